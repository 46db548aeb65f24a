#!/bin/bash
# What the passes write loads and runs in ONNX Runtime, with the results of `vitfold run`.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
source=${VITFOLD_SOURCE:-.}
corpus=${VITFOLD_CORPUS:-../shared}
python3 -c 'import numpy, onnxruntime' 2>/dev/null || {
    echo "skipped: Python here has no onnxruntime to compare with"
    exit 77
}
"$source/scripts/pass_table" --vitfold "$vitfold" "$source/testdata/mnist"
[ -d "$corpus/models" ] || { echo "no corpus at $corpus: the small models only"; exit 0; }
# Every ninth model: all exporters and architectures are among them. Sanitizers run few.
"$source/scripts/pass_table" --vitfold "$vitfold" --every "${VITFOLD_SANITIZE:+4}9" "$corpus/models"
