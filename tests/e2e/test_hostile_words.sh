#!/bin/bash
# Words that would destroy a file or hide a product: status 2 and nothing is touched.
set -u
vitfold=${VITFOLD:-build/vitfold}
model=${VITFOLD_SOURCE:-.}/testdata/mnist/mnist_softmax_ln_op17.onnx
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
cp "$model" "$folder/m.onnx"
cd "$folder" || exit 1
vitfold=$(cd "$OLDPWD" && realpath "$vitfold")

# try WANTED_STATUS WANTED_WORDS [words]: run and see that the model alone is there, as it was
try() {
    local wanted=$1 words=$2 status=0
    shift 2
    "$vitfold" "$@" >/dev/null 2>message || status=$?
    if [ "$status" != "$wanted" ] || ! grep -q "$words" message; then
        echo "$*: status $status (not $wanted): $(cat message)"
        failed=1
    fi
    rm message
    if [ "$(ls)" != m.onnx ] || ! cmp -s m.onnx "$model"; then
        echo "$*: left $(ls)"
        failed=1
        exit 1
    fi
}

try 2 'two different files' convert m.onnx o.onnx --json=o.onnx
try 2 'two different files' convert m.onnx o.txt --report o.txt
try 2 'two different files' convert m.onnx o.onnx --report r.json --json=r.json
try 2 'two different files' convert m.onnx o.onnx --json=m.onnx
try 2 'two different files' convert m.onnx o.html --report o.html
try 2 'none of .html' convert m.onnx o.onnx --report m.onnx
try 2 'does not end in .html' diff m.onnx m.onnx --html m.onnx
try 2 'two different files' diff m.onnx m.onnx --html d.html --json=d.html
try 6 "cannot write 'none/r.html'" convert m.onnx o.onnx --report none/r.html
try 6 "cannot write 'none/d.html'" diff m.onnx m.onnx --html none/d.html
try 2 'would replace the model' run m.onnx --random 1 --outputs m.onnx
try 6 "^vitfold: error: cannot write 'none/o.onnx': No such" convert m.onnx none/o.onnx
try 6 "^vitfold: error: cannot write '': the name is empty" convert m.onnx ''
exit $failed
