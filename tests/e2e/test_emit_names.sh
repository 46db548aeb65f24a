#!/bin/bash
# Names that would end comments, strings or lines, or meet after clean-up: the emitted program still
# compiles without a warning and is right; the names are found again in npy words and messages.
set -u
vitfold=$(realpath "${VITFOLD:-build/vitfold}")
source=$(realpath "${VITFOLD_SOURCE:-.}")
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/testdata python3 - <<'PYTHON' || exit 1
from make_onnx_cases import FLOAT, Msg, floats, node, num, opset, sub, tensor, text, value_info
names = ["*/ int x; /*", "a??/b\n#error", "//", "int", 'quo"te\\', b"\xff\xfe\x00z", "n" * 300, "a.b",
         "n" * 5000, "a/b", "-1", "`touch made`", "$(touch made)", "'; touch made; '", "=x=",
         "\\", "%s%n", "*/", "a.b_2", "5", "\u00b7 \u00e9", "/*"]
names = [name if isinstance(name, bytes) else name.encode() for name in names]
nodes, inputs, outputs = [], [], []
for name in names:
    nodes.append(node("Mul", [name, b"w" + name], [b"out" + name], name=name))
    inputs.append(value_info(11, name, FLOAT, [2]))
    outputs.append(value_info(12, b"out" + name, FLOAT, [2]))
weights = [tensor(5, FLOAT, [2], floats(i + 0.5, -i), name=b"w" + name)
           for i, name in enumerate(names)]
graph = sub(7, *nodes, text(2, "*/ graph"), *weights, *inputs, *outputs)
model = Msg(num(1, 8), graph, opset(8, "", 17))
with open("*??-names.onnx", "wb") as f:
    f.write(model.bytes())
PYTHON

fail() {
    echo "$*"
    exit 1
}

"$vitfold" emit-c '*??-names.onnx' -o c --random 3 >report || fail "emit: $(cat report)"
"$vitfold" emit-c '*??-names.onnx' -o d --random 3 >/dev/null || fail "emit again"
diff -r c d || fail "two emissions differ"
LC_ALL=C grep -lP '[^\t\n -~]' c/model.c c/model.h c/README.md && fail "not ASCII"
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    make -s -C c clean
    make -s -C c CC=$compiler CFLAGS="-O1 -Wall -Wextra -Wpedantic -Wtrigraphs -Wcomment -Werror" ||
        fail "$compiler"
done
# The commands of the README, word for word.
sed -n 's/^    //p' c/README.md | sed '/^#include/,$d' >commands
(cd c && bash ../commands) >out || fail "$(cat out)"
[ "$(grep -ac 'equal to the bit' out)" = 22 ] || fail "$(cat out)"
sed -n '/^    #include/,/^    }/s/^    //p' c/README.md >c/call.c
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -c c/call.c -o call.o || fail "README: $(cat c/call.c)"
[ -z "$(find . -name made)" ] || fail "a name was run as a command"
