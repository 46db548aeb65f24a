#!/bin/bash
# Attention that is one operator, and what passes make of it, against ONNX Runtime.
set -eu
vitfold=${VITFOLD:-build/vitfold}
python3 -c 'import numpy, onnx, onnxruntime
from onnx import helper
from sys import exit
exit(tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 32))' 2>/dev/null ||
    { echo "skipped: no python3 with numpy, onnx and onnxruntime 1.32"; exit 77; }
n=10
[ -z "${VITFOLD_SANITIZE:-}" ] || n=3
python3 "$(dirname "$0")/../support/fused_reference.py" "$vitfold" "$n"
