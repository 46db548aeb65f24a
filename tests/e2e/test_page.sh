#!/bin/bash
# Report pages in a browser: nothing fetched, no word on the console, search, folding, keys, themes,
# phones, paper; and what must hold of the files whatever names a model has.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
source=${VITFOLD_SOURCE:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

why=$(cd "$source/tests/support" && python3 -c 'import browser; print(browser.find() or "")') ||
    why="no python3"
[ -z "$why" ] || { echo "skipped: $why"; exit 77; }

mnist=$source/testdata/mnist
model=$mnist/mnist_softmax_prepbn_op17.onnx
"$vitfold" convert "$model" "$work/folded.onnx" --report "$work/folded.html" >/dev/null
"$vitfold" convert "$model" "$work/relu.onnx" --passes softmax-to-relu:act=relu --random 1 \
    --report "$work/relu.html" >/dev/null
status=0
"$vitfold" diff "$model" "$work/folded.onnx" --html "$work/diff.html" --random 1 >/dev/null \
    2>&1 || status=$?
[ "$status" = 1 ] || { echo "diff: status $status"; exit 1; }

# The same input gives the same bytes, wherever they go.
"$vitfold" convert "$model" "$work/again.onnx" --report "$work/again.html" >/dev/null
cmp "$work/folded.html" "$work/again.html"

python3 "$source/tests/support/page_models.py" "$work/hostile.onnx" "$work/large.onnx" \
    "$work/left.onnx"
"$vitfold" convert "$work/hostile.onnx" "$work/out.onnx" --report "$work/hostile.html" >/dev/null
"$vitfold" convert "$work/large.onnx" "$work/out.onnx" --report "$work/large.html" >/dev/null

# Why sites are left alone.
ln=$mnist/mnist_softmax_ln_op17.onnx
"$vitfold" explain "$work/left.onnx" --pass fold-ln-affine --html "$work/why.html" >/dev/null
"$vitfold" explain "$model" --html "$work/why_all.html" >/dev/null
"$vitfold" explain "$ln" --node '*blocks.1/attn/*' --html "$work/why_node.html" >/dev/null
"$vitfold" explain "$work/hostile.onnx" --node '*' --html "$work/why_hostile.html" >/dev/null
"$vitfold" explain "$work/large.onnx" --node '*' --html "$work/why_large.html" >/dev/null
"$vitfold" explain "$work/left.onnx" --pass fold-ln-affine --html "$work/why_again.html" >/dev/null
cmp "$work/why.html" "$work/why_again.html"
status=0
"$vitfold" explain "$ln" --html "$work/none/why.html" >"$work/said" 2>&1 || status=$?
[ "$status" = 6 ] && ! grep -q attention "$work/said" || { cat "$work/said"; exit 1; }
python3 "$source/tests/support/page_test.py" "$work" "${VITFOLD_PICTURES-}"
