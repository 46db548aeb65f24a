#!/bin/bash
# inspect --graph: every form of every model at hand is well-formed, the same each time, and
# refused where it makes no sense.
set -u
vitfold=$(realpath "${VITFOLD:-build/vitfold}")
source=$(realpath "${VITFOLD_SOURCE:-.}")
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

fail() {
    echo "$*"
    failed=1
}

models=("$source"/testdata/mnist/*.onnx)
[ -n "${VITFOLD_SANITIZE-}" ] || models+=("${VITFOLD_CORPUS:-none}"/models/*.onnx)
for model in "${models[@]}"; do
    [ -f "$model" ] || continue
    name=$(basename "$model" .onnx)
    for form in svg dot graphml; do
        "$vitfold" inspect "$model" --graph $form -o "$name.$form" 2>message ||
            fail "$name: $form: $(cat message)"
        [ ! -s message ] || fail "$name: $form says: $(cat message)"
    done
done
python3 - <<'PYTHON' || failed=1
import glob, sys, xml.dom.minidom
bad = 0
names = glob.glob("*.svg") + glob.glob("*.graphml")
for name in names:
    try:
        document = xml.dom.minidom.parse(name)
        want = "node" if name.endswith("graphml") else "svg"
        assert document.getElementsByTagName(want), f"no {want}"
    except Exception as fault:
        print(f"{name}: {fault}")
        bad = 1
for name in glob.glob("*.svg"):
    if open(name).read().count('<g class="box') > 450:
        print(f"{name}: too many boxes")
        bad = 1
sys.exit(bad or not names)
PYTHON

model=$source/testdata/mnist/mnist_softmax_ln_op17.onnx
for form in svg dot graphml; do
    "$vitfold" inspect "$model" --graph $form >again || fail "$form to standard output"
    cmp again "mnist_softmax_ln_op17.$form" || fail "$form: other bytes in a second run"
done
grep -q 'softmax attention' mnist_softmax_ln_op17.svg || fail "no attention in the map"
[ "$(grep -c 'class="row"' mnist_softmax_ln_op17.svg)" = 6 ] || fail "not 6 rows in the map"

# refused WORDS [options]: status 2 and the words
refused() {
    local words=$1 status=0
    shift
    "$vitfold" inspect "$@" >/dev/null 2>message || status=$?
    [ $status = 2 ] && grep -q "$words" message || fail "$*: status $status: $(cat message)"
}

# Without its plugins Graphviz lays nothing out: status 6, and no file.
mkdir empty
status=0
GVBINDIR=$folder/empty "$vitfold" inspect "$model" --graph svg -o none.svg 2>message || status=$?
[ $status = 6 ] && grep -q "Graphviz finds no layout 'dot'" message && [ ! -e none.svg ] ||
    fail "no plugins: status $status: $(cat message)"

refused "takes one model" "$model" "$model" --graph svg
refused "takes one model" "$model" --graph dot --json
refused "takes one model" "$model" --graph dot --signal
refused "'output' needs --graph" "$model" -o map.svg
refused "graph" "$model" --graph png
exit $failed
