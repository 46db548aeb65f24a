#!/bin/bash
# The worst block that sensitivity names is the worst one when each is converted and evaluated by
# hand, on a trained model with 2,000 labelled images.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
corpus=${VITFOLD_CORPUS:-../shared}/pretrained
model=$corpus/mnist_softmax_ln_op17.onnx
data=$corpus/mnist_test.npz
[ -e "$model" ] && [ -e "$data" ] || { echo "skipped: no $model"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$vitfold" eval "$model" --data "$data" | grep -q '^preprocessing: none' ||
    { echo "eval does not tell its preprocessing"; exit 1; }
"$vitfold" sensitivity "$model" --pass softmax-to-relu --data "$data" --json >"$work/all.json"
for site in 0 1 2 3; do
    "$vitfold" convert "$model" "$work/$site.onnx" --passes softmax-to-relu:sites=$site >/dev/null
    "$vitfold" eval "$work/$site.onnx" --data "$data" --json >"$work/$site.json"
done
# What is not finite anyway tells nothing.
python3 -c 'import numpy, sys
numpy.savez(sys.argv[1], image=numpy.full((1, 1, 28, 28), numpy.nan, "float32"))' "$work/nan.npz"
status=0
said=$("$vitfold" sensitivity "$model" --pass softmax-to-relu --inputs "$work/nan.npz" 2>&1) ||
    status=$?
[ "$status" = 2 ] && [[ "$said" = *"no finite element"* ]] || { echo "$status: $said"; exit 1; }
python3 - "$work" <<'PYTHON'
import json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
told, by_hand = read("all"), {site: read(site)["top1"] for site in range(4)}
accuracy = {row["site"]: row["accuracy"] for row in told["sites"]}
worst = min(by_hand, key=by_hand.get)
print(f"original {told['original']['accuracy']}, by hand {by_hand}, worst block {worst}")
assert accuracy == by_hand, accuracy
assert told["sites"][0]["site"] == worst, told["sites"][0]
PYTHON
