#!/bin/bash
# Models raised to newer opsets compute the same bits, and ONNX's own checker takes them where
# Python has it. Models of the corpus are looked at where there is one.
set -eu
vitfold=${VITFOLD:-build/vitfold}
source=${VITFOLD_SOURCE:-.}
corpus=${VITFOLD_CORPUS:-../shared}/models
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

step=6
[ -z "${VITFOLD_SANITIZE:-}" ] || step=40
models=("$source"/testdata/mnist/*.onnx "$source"/testdata/onnx/{plain,patches,loop}.onnx)
if [ -d "$corpus" ]; then
    mapfile -t more < <(find "$corpus" -name '*.onnx' | sort | awk "NR % $step == 1")
    models+=("${more[@]}")
fi

n=0
for model in "${models[@]}"; do
    for opset in 18 24; do
        out=$folder/$(basename "$model" .onnx)_$opset.onnx
        status=0
        "$vitfold" convert -q "$model" "$out" --passes none --opset "$opset" \
            >/dev/null 2>"$folder/message" || status=$?
        if [ "$status" = 4 ]; then
            grep -q "cannot become $opset for" "$folder/message"
            [ ! -e "$out" ]
            continue
        fi
        [ "$status" = 0 ] || { cat "$folder/message"; exit 1; }
        "$vitfold" compare "$model" "$out" --exact --random 3 --dim h=4 --dim w=6 \
            >"$folder/said" 2>&1 || "$vitfold" compare "$model" "$out" --exact --random 3 \
            >"$folder/said" 2>&1 || { echo "$model to opset $opset"; cat "$folder/said"; exit 1; }
        n=$((n + 1))
    done
done
echo "$n conversions give the same bits"
[ "$n" -ge 8 ]

if python3 -c 'import onnx' 2>/dev/null; then
    python3 - "$folder" <<'PY'
import glob, sys
import onnx
for path in sorted(glob.glob(sys.argv[1] + "/*.onnx")):
    try:
        onnx.checker.check_model(onnx.load(path))
    except onnx.checker.ValidationError as error:
        sys.exit(f"{path}: {error}")
PY
    echo "the checker of onnx takes all"
else
    echo "not checked by onnx: python3 has no such module"
fi
