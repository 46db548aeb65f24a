#!/bin/bash
# The ONNX backend tests: what vitfold supports must be right, and it supports at least this many.
#
#     test_conformance.sh [options of run_conformance.py]
#
# With options only the selected tests are run and their number is not checked.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
corpus=${VITFOLD_CORPUS:-../shared}
source=${VITFOLD_SOURCE:-.}
script=$corpus/conformance/run_conformance.py
# Raise it when operators are added.
least=1929
[ -f "$script" ] || { echo "skipped: no conformance pack at $corpus"; exit 77; }
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: no python3 with numpy"; exit 77; }
selection=("$@")
# Sanitizers cost a lot of time and the same code is run: a part is enough then.
if [ $# -eq 0 ] && [ -n "${VITFOLD_SANITIZE-}" ]; then
    selection=(--filter '^test_(attention|einsum|gemm|layer_norm|loop|pad|resize|scan|slice|softmax)')
fi
[ ${#selection[@]} -eq 0 ] || least=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# 4 is the status of what is not supported: a skip.
python3 "$script" --cmd "$vitfold run {model} {inputs} --output-dir {out} --output-format pb" \
    --skip-code 4 --extract-to "$work" --quiet --no-table --min-pass "$least" \
    --results "$work/results.tsv" \
    "${selection[@]+"${selection[@]}"}" | grep -v '^SKIP' | tee "$work/log"
grep -q ' 0 failed,' "$work/log"
[ "$least" -gt 1 ] || exit 0
"$source/scripts/conformance_table" "$work/results.tsv" "$corpus/conformance/index.tsv" \
    "$corpus/conformance/vit-operators.txt" >"$work/page.md"
diff -u "$source/docs/conformance.md" "$work/page.md" ||
    { echo "docs/conformance.md is out of date: run scripts/conformance_table"; exit 1; }
