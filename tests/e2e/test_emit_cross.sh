#!/bin/bash
# Emitted programs on other processors: cross-compiled, run by qemu, with the bits of this one. With
# FMA=1 those of its kernels that fuse multiplications with additions, where this one has such.
set -u
vitfold=$(realpath "${VITFOLD:-build/vitfold}")
model=$(realpath "${VITFOLD_SOURCE:-.}")/testdata/mnist/mnist_softmax_prepbn_op17.onnx
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
n_run=0
fuses=$(grep -qw fma /proc/cpuinfo && grep -qw avx2 /proc/cpuinfo && echo yes)

# run NAME PROCESSOR OUTPUT [MAKE'S WORDS]: build and run an emitted program.
run() {
    make -s -C c "$1" CC="$2-linux-gnu-gcc" LDFLAGS=-static \
        CFLAGS="-O1 -Wall -Wextra -Wpedantic -Werror" "${@:4}" || failed=1
    (cd c && "qemu-$2" "./$1" --in image=sample/in_0.npy --expect "logits=$3") | tee out
    grep -q 'equal to the bit' out || failed=1
}

for processor in aarch64 riscv64; do
    command -v "$processor-linux-gnu-gcc" >/dev/null && command -v "qemu-$processor" >/dev/null || {
        echo "$processor: no cross compiler or no qemu"
        continue
    }
    n_run=$((n_run + 1))
    "$vitfold" emit-c "$model" -o c --random 5 --dim batch=2 >/dev/null || exit 1
    run executor "$processor" sample/out_0.npy
    if [ "$processor" = aarch64 ] && [ -n "$fuses" ]; then
        "$vitfold" run "$model" --input image=c/sample/in_0.npy --output-dir c/fused -q || failed=1
        run executor-fma "$processor" fused/logits.npy FMA=1
    fi
    rm -r c
done
[ $n_run -gt 0 ] || exit 77
exit $failed
