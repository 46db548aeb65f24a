#!/bin/bash
# Emitted programs on other processors: cross-compiled, run by qemu, with the bits of this one.
set -u
vitfold=$(realpath "${VITFOLD:-build/vitfold}")
model=$(realpath "${VITFOLD_SOURCE:-.}")/testdata/mnist/mnist_softmax_prepbn_op17.onnx
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
n_run=0
for processor in aarch64 riscv64; do
    command -v "$processor-linux-gnu-gcc" >/dev/null && command -v "qemu-$processor" >/dev/null || {
        echo "$processor: no cross compiler or no qemu"
        continue
    }
    n_run=$((n_run + 1))
    "$vitfold" emit-c "$model" -o c --random 5 --dim batch=2 >/dev/null || exit 1
    make -s -C c CC="$processor-linux-gnu-gcc" LDFLAGS=-static \
        CFLAGS="-O1 -Wall -Wextra -Wpedantic -Werror" || failed=1
    (cd c && "qemu-$processor" ./executor --in image=sample/in_0.npy \
        --expect logits=sample/out_0.npy) | tee out
    grep -q 'equal to the bit' out || failed=1
    rm -r c
done
[ $n_run -gt 0 ] || exit 77
exit $failed
