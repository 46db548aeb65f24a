#!/bin/bash
# What an emitted program says of values beyond the usual: infinities and NaN where they are
# expected or not, many of them, outputs in another order, weights that a smaller type does not hold,
# indices outside their axis.
set -u
vitfold=$(realpath "${VITFOLD:-build/vitfold}")
source=$(realpath "${VITFOLD_SOURCE:-.}")
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/testdata python3 - <<'PYTHON' || exit 1
import struct
from make_onnx_cases import FLOAT, INT64, Msg, attr, floats, node, num, opset, sub, tensor, text, value_info
def model(path, outputs, weight=(1.0, 2.0, 1e6)):
    nodes = [node("Mul", ["x", "w"], ["product"], name="mul"),
             node("Add", ["x", "x"], ["sum"], name="add")]
    graph = sub(7, *nodes, text(2, "g"), tensor(5, FLOAT, [3], floats(*weight), name="w"),
                value_info(11, "x", FLOAT, [3]),
                *[value_info(12, name, FLOAT, [3]) for name in outputs])
    with open(path, "wb") as f:
        f.write(Msg(num(1, 8), graph, opset(8, "", 17)).bytes())
model("a.onnx", ["product", "sum"])
model("b.onnx", ["sum", "product"])
model("c.onnx", ["product"])
model("d.onnx", ["product"], (1.0, 2.0, 0.5))
def array(path, *numbers):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
    head = (head.ljust(117) + "\n").encode()
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + floats(*numbers))
n = range(70)
graph = sub(7, *[node("Neg", [f"x{i}"], [f"y{i}"]) for i in n], text(2, "g"),
            *[value_info(11, f"x{i}", FLOAT, [1]) for i in n],
            *[value_info(12, f"y{i}", FLOAT, [1]) for i in n])
with open("many.onnx", "wb") as f:
    f.write(Msg(num(1, 8), graph, opset(8, "", 17)).bytes())
pick = sub(7, node("Gather", ["x", "i"], ["y"], attr("axis", 2, num(3, 1))),
           text(2, "g"), value_info(11, "x", FLOAT, ["batch", 3]), value_info(11, "i", INT64, [1]),
           value_info(12, "y", FLOAT, ["batch", 1]))
with open("pick.onnx", "wb") as f:
    f.write(Msg(num(1, 8), pick, opset(8, "", 17)).bytes())
for number in 2, 3:
    head = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
    with open(f"i{number}.npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() +
                struct.pack("<q", number))
inf, nan = float("inf"), float("nan")
array("x.npy", 1, inf, 0)
for path, sum_ in ("same", (2, inf, 0)), ("finite", (2, 5, 0)), ("negative", (2, -inf, 0)), \
                  ("nan", (2, nan, 0)), ("infinite", (inf, inf, 0)):
    array(path + ".npy", *sum_)
PYTHON

fail() {
    echo "$*"
    failed=1
}

# expect STATUS WORDS FOLDER options
expect() {
    local status=$1 words=$2 to=$3
    shift 3
    (cd "$to" && ./executor "$@") >out 2>&1
    [ $? = "$status" ] && grep -q -- "$words" out || fail "$to $*: $(cat out)"
}

emit() {
    "$vitfold" emit-c "$@" >report 2>message || fail "emit $*: $(cat message)"
}

build() {
    make -s -C "$1" CFLAGS="-O1 -Wall -Wextra -Wpedantic -Wconversion -Werror" || fail "make $1"
}

emit a.onnx -o a
build a
expect 0 'sum: 3 elements, equal to the bit' a --in x=../x.npy --expect sum=../same.npy
for path in finite negative nan infinite; do
    expect 1 'sum: 3 elements, 1 differ' a --in x=../x.npy --expect "sum=../$path.npy" --rtol 1
done

# As many inputs and outputs as the model has.
emit many.onnx -o many --random 1
sed -n 's/^    //p' many/README.md | sed '/^#include/,$d' >commands
(cd many && bash ../commands) >out 2>&1 || fail "many: $(tail -1 out)"
[ "$(grep -c 'equal to the bit' out)" = 70 ] || fail "many: $(tail -1 out)"

# By name; a missing one, or one too many, is a difference.
emit a.onnx --with b.onnx -o ab
build ab
expect 0 'sum: 3 elements, equal to the bit' ab --compare --in x=../x.npy
emit a.onnx --with c.onnx -o ac
build ac
expect 1 "the second model has no output 'sum'" ac --compare
emit c.onnx --with a.onnx -o ca
build ca
expect 1 "more outputs than the first model's has 'converted'" ca --compare

# Numbers that f16 does not reach are kept, and that is told; what nothing was lost of has no name.
emit a.onnx -o narrow --weights-dtype f16 --random 1
grep -q ' 0 tensors widened on loading; 1 kept as f32, for they hold larger numbers' report ||
    fail "f16: $(cat report)"
build narrow
expect 0 'product: 3 elements, equal to the bit' narrow --in 0=sample/in_0.npy \
    --expect product=sample/out_0.npy
# An index outside its axis ends the run, as that of vitfold itself; no output is written.
"$vitfold" run pick.onnx --random 1 -i i=i3.npy -o out_3 >message 2>&1
[ $? = 3 ] && grep -q "node 'Gather#1': index 3 lies outside an axis of 3" message &&
    [ ! -e out_3 ] || fail "run pick.onnx: $(cat message)"
emit pick.onnx -o pick
emit pick.onnx -o pick_batch --dim batch=1..4
for folder_of in pick pick_batch; do
    build $folder_of
    expect 0 '1 runs' $folder_of --in i=../i2.npy --out y=y.npy --repeats 1
    rm $folder_of/y.npy
    expect 3 'an index is out of range' $folder_of --in i=../i3.npy --out y=y.npy --repeats 3
    [ ! -e $folder_of/y.npy ] || fail "$folder_of: wrote an output"
done

emit d.onnx -o exact --weights-dtype f16
grep -q ' 1 tensors widened on loading; largest error 0$' report || fail "exact: $(cat report)"
exit $failed
