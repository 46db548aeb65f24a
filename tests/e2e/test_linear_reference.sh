#!/bin/bash
# linearize-attention on models of the corpus against its definition, run by ONNX Runtime.
set -eu
vitfold=${VITFOLD:-build/vitfold}
corpus=${VITFOLD_CORPUS:-../shared}
[ -d "$corpus/models" ] || { echo "skipped: no corpus at $corpus"; exit 77; }
python3 -c 'import numpy, onnx, onnxruntime' 2>/dev/null ||
    { echo "skipped: no python3 with numpy, onnx and onnxruntime"; exit 77; }
for words in dwc=off dwc=off,order=quadratic; do
    python3 "$(dirname "$0")/../support/linear_reference.py" "$vitfold" "$corpus/models" "" $words
done
