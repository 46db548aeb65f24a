#!/bin/bash
# Every JSON report has the form that its schema in docs/schemas says.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
source=${VITFOLD_SOURCE:-.}
corpus=${VITFOLD_CORPUS:-../shared}
python3 -c 'import jsonschema, numpy' 2>/dev/null ||
    { echo "skipped: no python3 with jsonschema and numpy"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# report EXPECTED_STATUS COMMAND...: its JSON, which goes to standard output.
report() {
    local expected=$1 status=0
    shift
    n=$((n + 1))
    "$vitfold" "$@" --json >"$work/$n.json" 2>"$work/log" || status=$?
    [[ "$status" =~ ^($expected)$ ]] || { echo "vitfold $*: status $status"; cat "$work/log"; exit 1; }
}

passes_of() {
    for passes in default softmax-to-relu:act=relu linearize-attention insert-spa:tau=1; do
        report 0 convert "$1" "$work/out.onnx" --passes "$passes" \
            --report "$work/$n.journal.json"
    done
}

whole() {
    report 0 inspect "$1"
    report 0 inspect "$1" --signal
    report 0 explain "$1"
    report 0 check "$1"
    passes_of "$1"
    report "0|1" diff "$1" "$work/out.onnx"
    report 0 emit-c "$1" -o "$work/emitted" --random 1
    rm -rf "$work/emitted"
}

on_data() {
    report 0 convert "$1" "$work/same.onnx" --inputs "$2" --report "$work/$n.effect.json"
    report 0 run "$1" --inputs "$2"
    report 0 bench "$1" --inputs "$2" --repeats 1 --warmup 1 --per-node \
        --trace "$work/$n.trace.json"
    report 0 compare "$1" "$1" --inputs "$2" --per-node
    report "0|1" compare "$1" "$work/out.onnx" --inputs "$2" --rtol 1e-9
    report "0|1" bisect "$1" --passes default,softmax-to-relu --inputs "$2" --metric rel \
        --threshold 0.1
    report "0|1" sensitivity "$1" --pass softmax-to-relu --inputs "$2" --budget 0.1
    report 0 inspect "$1" --signal --inputs "$2"
    report "0|1" diff "$1" "$work/out.onnx" --inputs "$2"
}

mnist=$source/testdata/mnist
model=$mnist/mnist_softmax_ln_op17.onnx
"$vitfold" inspect "$model" --json >"$work/inspect.json"
python3 - "$work/inspect.json" "$mnist/test_500.npz" "$work/x.npz" <<'PYTHON'
import json, sys, numpy
name = json.load(open(sys.argv[1]))["models"][0]["inputs"][0]["name"]
numpy.savez(sys.argv[3], **{name: numpy.load(sys.argv[2])["x"][:8]})
PYTHON
whole "$model"
report 0 emit-c "$model" -o "$work/emitted" --dim batch=1..3
on_data "$model" "$work/x.npz"
report 0 eval "$model" --data "$mnist/test_500.npz"
report "0|1" bisect "$model" --passes softmax-to-relu --data "$mnist/test_500.npz" --samples 64 \
    --metric accuracy --threshold 0.99
report "0|1" sensitivity "$model" --pass softmax-to-relu --data "$mnist/test_500.npz" --samples 64
report 0 sensitivity "$model" --pass fuse-gelu --random 1
report 0 convert "$model" "$work/checked.onnx" --check
report 0 bench "$model" --beside reference --repeats 2 --warmup 1 --threads 2
report 0 passes
report 0 passes --operators
report 0 passes progressive-norm --schedule 10
report 3 check "$source/testdata/onnx/outside_dotdot.onnx"

# More spellings, where the corpus is.
for path in $(ls "$corpus"/models/*.onnx 2>/dev/null | awk 'NR % 25 == 1'); do
    whole "$path"
    on_data "$path" "${path%.onnx}.inputs.npz"
done
python3 "$source/tests/support/validate_json.py" "$source/docs/schemas" "$work"/*.json
