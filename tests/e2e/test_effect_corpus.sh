#!/bin/bash
# The default passes move no block and no output of the corpus beyond rounding, and every end of a
# block is found again behind them.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
corpus=${VITFOLD_CORPUS:-../shared}/models
[ -d "$corpus" ] || { echo "skipped: no $corpus"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
for model in $(ls "$corpus"/*.onnx | awk 'NR % 4 == 1'); do
    inputs=${model%.onnx}.inputs.npz
    [ -e "$inputs" ] || continue
    "$vitfold" convert "$model" "$work/out.onnx" --inputs "$inputs" --json >"$work/$n.json"
    n=$((n + 1))
done
python3 - "$work"/*.json <<'PYTHON'
import json, sys

faults, n_block = [], 0
for path in sys.argv[1:]:
    document = json.load(open(path))
    for stage in document["effect"]["stages"]:
        rows = stage["outputs"] + stage["blocks"]
        n_block += len(stage["blocks"])
        faults += [f"{document['file']}: after {stage['pass']} '{row['name']}' {row['verdict']}"
                   for row in rows if row["verdict"] not in ("equal", "noise", "close")]
print("\n".join(faults + [f"{len(sys.argv) - 1} models, {n_block} ends of blocks"]))
sys.exit(1 if faults or not n_block else 0)
PYTHON
