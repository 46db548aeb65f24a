#!/bin/bash
# What a command writes takes no model's place and no other report's, and comes whole, all of it, or
# not at all.
set -eu
vitfold=$(realpath "${VITFOLD:-build/release/vitfold}")
mnist=$(realpath "${VITFOLD_SOURCE:-.}")/testdata/mnist
work=$(mktemp -d)
cd "$work"
cp "$mnist/mnist_softmax_ln_op17.onnx" model.onnx
cp model.onnx model.html
ln -s model.onnx link.svg

# expect STATUS WORDS...: nothing but the models is in the folder afterwards.
expect() {
    local status=0
    "$vitfold" "${@:2}" >"$work.log" 2>&1 || status=$?
    [ "$status" = "$1" ] || { echo "vitfold ${*:2}: status $status"; cat "$work.log"; exit 1; }
    [ "$(ls -A | tr '\n' ' ')" = "link.svg model.html model.onnx " ] ||
        { echo "vitfold ${*:2}: leaves $(ls -A)"; exit 1; }
    cmp -s model.onnx "$mnist/mnist_softmax_ln_op17.onnx" ||
        { echo "vitfold ${*:2}: the model is gone"; exit 1; }
}

trap 'rm -rf "$work" "$work.log"' EXIT
search="sensitivity model.onnx --pass softmax-to-relu --random 1 --budget 1"
for words in "explain model.onnx" "inspect model.onnx" "check model.onnx" "$search" \
    "bisect model.onnx --metric rel --threshold 1" "compare model.onnx model.html --random 1" \
    "diff model.onnx model.html"; do
    expect 2 $words --json=model.onnx
    expect 2 $words --json=./model.onnx
    expect 6 $words --json=none/report.json
done
for file in model.onnx ./model.onnx link.svg; do
    expect 2 $search --svg "$file"
    expect 2 $search --save-recipe "$file"
    expect 2 inspect model.onnx --signal-svg "$file"
    expect 2 inspect model.onnx --graph svg -o "$file"
    expect 2 compare model.onnx model.onnx --random 1 --svg "$file"
done
expect 2 explain model.html --html model.html
expect 2 diff model.onnx model.html --html model.html
expect 2 $search --svg both --save-recipe both
expect 2 $search --svg both.json --json both.json
# One of two cannot be written: neither is.
expect 6 $search --save-recipe recipe.xml --svg none/plot.svg
expect 6 $search --save-recipe none/recipe.xml --svg plot.svg
expect 6 $search --save-recipe recipe.xml --json=none/report.json
expect 6 explain model.onnx --html why.html --json=none/report.json
expect 6 inspect model.onnx --signal-svg none/plot.svg

"$vitfold" $search --save-recipe recipe.xml --svg plot.svg --json report.json >/dev/null
[ -s recipe.xml ] && [ -s plot.svg ] && [ -s report.json ]
