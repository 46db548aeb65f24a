#!/bin/bash
# insert-spa on models of the corpus against its definition, run by ONNX Runtime: a class token, a
# grid of windows with shift masks, causal masks with grouped heads and run-time lengths.
set -eu
vitfold=${VITFOLD:-build/vitfold}
corpus=${VITFOLD_CORPUS:-../shared}
[ -d "$corpus/models" ] || { echo "skipped: no corpus at $corpus"; exit 77; }
python3 -c 'import numpy, onnx, onnxruntime' 2>/dev/null ||
    { echo "skipped: no python3 with numpy, onnx and onnxruntime"; exit 77; }
python3 "$(dirname "$0")/../support/spa_reference.py" "$vitfold" "$corpus/models" \
    t09_deit_tiny_op13 t09_swin_ own_gpt_ own_gqa luc_xt_gpt
