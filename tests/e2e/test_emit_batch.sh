#!/bin/bash
# Programs with an open batch: for each batch their outputs are those of `run --reference` to the
# bit, whatever the options; batches out of range are refused; so are models whose numbers do not
# follow the batch.
set -u
. "$(dirname "$0")/../support/emit_case.sh"
warnings="-Wall -Wextra -Wpedantic -Werror"

# build FOLDER COMPILER FLAGS [BLAS=1]
build() {
    make -s -C "$1" CC="$2" CFLAGS="$3 $warnings" ${4:-} >log 2>&1 || fail "$1 $2: $(head -5 log)"
}

# check FOLDER SAMPLES [options]: the folder's program gives the outputs of fixed shapes
check() {
    local to=$1 sample=$2/sample
    shift 2
    (cd "$to" && ./executor --in "image=../$sample/in_0.npy" \
        --expect "logits=../$sample/out_0.npy" "$@") >out 2>&1 || fail "$to $sample: $(cat out)"
    grep -q 'equal to the bit' out || fail "$to $sample: $(cat out)"
}

# Samples for fixed shapes, with what vitfold computes for them.
for batch in 1 2 3 16 17; do
    emit "ln_$batch" "$ln" --random "$batch" --dim "batch=$batch"
    emit "repbn_$batch" "$repbn" --random "$batch" --dim "batch=$batch"
done

# Each compiler, sanitizers; a batch of one may have a function of its own.
emit ln "$ln" --random 1 --dim batch=1..16
emit again "$ln" --random 1 --dim batch=1..16
diff -r ln again >/dev/null || fail "two emissions differ"
build ln gcc "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
check ln ln
for batch in 1 2 3 16; do check ln "ln_$batch"; done
emit repbn "$repbn" --dim batch=2..16
build repbn "$(command -v clang || echo gcc)" -O1
for batch in 2 3 16; do check repbn "repbn_$batch"; done

# What a caller and a reader see.
grep -q '\[batch, 1, 28, 28\], 3136 \* batch bytes' ln/model.h || fail "model.h: no shape"
grep -q 'int model_run(int64_t batch, const void \*weights' ln/model.h || fail "model.h: no batch"
grep -q 'model_run(batch, weights, arena, in, out)' ln/README.md || fail "README.md: no batch"
sed -n '/^    #include/,/^    }/s/^    //p' ln/README.md >call.c
gcc -std=c11 $warnings -Iln -c call.c -o call.o || fail "README.md: $(cat call.c)"
(cd ln && ./executor --list) >out && grep -q 'batches of 1 to 16' out || fail "--list: $(cat out)"
sed -n 's/^    //p' ln/README.md | sed '/^#include/,$d' >commands
(cd ln && bash ../commands) >out 2>&1 || fail "README.md: $(cat out)"

# The batch of --batch, of files, and what does not fit.
(cd ln && ./executor --batch 5 --out logits=five.npy --repeats 1) >out || fail "--batch: $(cat out)"
grep -aq "'shape': (5, 10" ln/five.npy || fail "not five samples"
grep -q 'batch 5' out || fail "the times do not name the batch"
# refuse STATUS WORDS options
refuse() {
    local status=$1 words=$2
    shift 2
    (cd ln && ./executor "$@") >out 2>&1
    [ $? = "$status" ] && grep -q -- "$words" out || fail "$*: $(cat out)"
}
refuse 2 "batches of 1 to 16, not of '17'" --batch 17
refuse 2 "batches of 1 to 16, not of '0'" --batch 0
refuse 2 "batches of 1 to 16, not of '17'" --in image=../ln_17/sample/in_0.npy
refuse 6 'another shape' --batch 2 --in image=../ln_3/sample/in_0.npy
refuse 2 "expected a number" --batch many
build ln_1 gcc -O0
(cd ln_1 && ./executor --batch 1) >out 2>&1
[ $? = 2 ] && grep -q 'all shapes are fixed' out || fail "--batch of fixed shapes: $(cat out)"

# The function itself.
cat >call.c <<'C'
#include "model.h"
int main(void)
{
    return model_run(0, NULL, NULL, NULL, NULL) == EXECUTOR_BAD_BATCH &&
                   model_run(MODEL_MAX_BATCH + 1, NULL, NULL, NULL, NULL) == EXECUTOR_BAD_BATCH
               ? 0
               : 1;
}
C
objects=$(find repbn/build -name '*.o' ! -name main.o ! -name executors.o)
# Words are split on purpose: the paths are ours.
# shellcheck disable=SC2086
"$(command -v clang || echo gcc)" -Irepbn call.c $objects -lm -o call && ./call || fail "model_run"

# Options.
emit single "$repbn" --dim batch=1..16 --single-file --weights c
build single gcc -O1
for batch in 1 3 16; do check single "repbn_$batch"; done
emit narrow_3 "$repbn" --random 3 --dim batch=3 --weights-dtype f16
build narrow_3 gcc -O1
(cd narrow_3 && ./executor --in image=sample/in_0.npy --out logits=sample/out_0.npy) || fail "f16"
emit narrow "$repbn" --dim batch=1..16 --weights-dtype f16
build narrow gcc -O1
check narrow narrow_3
emit both "$ln" --with "$repbn" --dim batch=1..16
build both gcc -O1
check both ln_3
cp ln_3/sample/in_0.npy repbn_3/sample/in_0.npy
"$vitfold" run "$repbn" --reference --input image=ln_3/sample/in_0.npy --output-dir . >/dev/null
cp logits.npy repbn_3/sample/out_0.npy
check both repbn_3 --which 1
(cd both && ./executor --compare --in image=../ln_3/sample/in_0.npy) >out 2>&1
[ $? = 1 ] && grep -q 'logits: 30 elements' out || fail "--compare: $(cat out)"

# With OpenBLAS, which fused products do without: the bits of the program for fixed shapes.
if echo 'int main(void) { return 0; }' | gcc -x c - -lopenblas -o blas 2>/dev/null; then
    emit plain_16 "$ln" --random 16 --dim batch=16 --fuse=off
    emit plain "$ln" --random 1 --dim batch=1..16 --fuse=off
    for program in plain_16 plain; do
        build $program gcc -O1 BLAS=1
        (cd $program && ./executor-blas --in image=../ln_16/sample/in_0.npy --out logits=blas.npy)
    done
    cmp plain_16/blas.npy plain/blas.npy || fail "OpenBLAS"
fi

# With fused additions: the bits of a plain run, on machines that fuse.
if grep -qw fma /proc/cpuinfo && grep -qw avx2 /proc/cpuinfo; then
    build ln_16 gcc '-O2 -march=native' FMA=1
    "$vitfold" run "$ln" --input image=ln_16/sample/in_0.npy --output-dir . >/dev/null
    (cd ln_16 && ./executor-fma --in image=sample/in_0.npy --expect logits=../logits.npy) >out 2>&1
    grep -q 'equal to the bit' out || fail "fused additions: $(cat out)"
fi

# Ranges that are none.
# usage WORDS options
usage() {
    local words=$1
    shift
    "$vitfold" emit-c "$ln" -o none "$@" >out 2>&1
    [ $? = 2 ] && grep -q -- "$words" out || fail "$*: $(cat out)"
}
usage 'the smallest batch is 1, not 0' --dim batch=0..4
usage '5 to 2 is no range' --dim batch=5..2
usage "input 'image': its size overflows with a batch of" --dim batch=1..9223372036854775807
usage "'batch=1..' is not NAME=N or NAME=A..B" --dim batch=1..
usage "'batch=1..x' is not NAME=N or NAME=A..B" --dim batch=1..x
usage "no input has a dimension 'rows'" --dim rows=1..4
usage "only one dimension can be a range" --dim batch=1..4 --dim rows=1..4
usage "'batch' is given twice" --dim batch=1..4 --dim batch=2
usage "its data is a batch of 17, not of 1 to 16" --dim batch=1..16 \
    --input image=ln_17/sample/in_0.npy

command -v python3 >/dev/null || exit $failed
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/testdata python3 - <<'PYTHON' || exit 1
from make_onnx_cases import FLOAT, Msg, node, num, opset, sub, text, value_info
def model(name, dims, *nodes):
    graph = sub(7, *nodes, text(2, "g"), value_info(11, "x", FLOAT, dims),
                value_info(12, "y", FLOAT, ["p", "q"]))
    with open(name, "wb") as f:
        f.write(Msg(num(1, 8), graph, opset(8, "", 17)).bytes())
model("square.onnx", ["n", 4], node("Transpose", ["x"], ["t"], name="turn"),
      node("MatMul", ["x", "t"], ["s"], name="square"), node("Relu", ["s"], ["y"], name="bend"))
model("second.onnx", [4, "n"], node("Relu", ["x"], ["y"], name="relu"))
PYTHON
"$vitfold" emit-c square.onnx -o none --dim n=1..4 >out 2>&1
[ $? = 4 ] && grep -q "'bend' (Relu).*no linear function of the batch" out ||
    fail "square: $(cat out)"
"$vitfold" emit-c second.onnx -o none --dim n=1..4 >out 2>&1
[ $? = 2 ] && grep -q "'n' is dimension 1 of it; only a first one can be a range" out ||
    fail "second: $(cat out)"
[ ! -e none ] || fail "a refused model left a folder"
exit $failed
