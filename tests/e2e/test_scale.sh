#!/bin/bash
# scripts/scale_table runs, on models as small as its makers can make them, and has a row for each
# job and each model.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
source=${VITFOLD_SOURCE:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 "$source/scripts/scale_table" --vitfold "$vitfold" --nodes 80,160 --repeats 1 \
    "$source/testdata/mnist/mnist_softmax_ln_op17.onnx" >"$work/table.md"
[ "$(grep -c '^| diff with the result |' "$work/table.md")" = 3 ] || { cat "$work/table.md"; exit 1; }
[ "$(grep -c '^| convert, ' "$work/table.md")" = 33 ] || { cat "$work/table.md"; exit 1; }

# Models that are broad, few of each sort.
kinds=$(python3 -c "import sys; sys.dont_write_bytecode = True
sys.path.insert(0, '$source/tests/support'); import breadth_models
print(','.join(breadth_models.SOUND))")
python3 "$source/scripts/scale_table" --vitfold "$vitfold" --nodes 4 --repeats 1 --kinds "$kinds" \
    >"$work/broad.md"
[ "$(grep -c ', seconds |' "$work/broad.md")" -gt 30 ] || { cat "$work/broad.md"; exit 1; }
grep -q '^| mnist_softmax_ln_op17.onnx | ' "$work/table.md"
