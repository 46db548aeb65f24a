# What the tests of emitted programs share; sourced, in bash. It goes into a folder of its own that
# is removed at the end, and sets vitfold, source, failed, and the shipped models ln and repbn.
vitfold=$(realpath "${VITFOLD:-build/vitfold}")
source=$(realpath "${VITFOLD_SOURCE:-.}")
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
cd "$folder" || exit 1
ln=$source/testdata/mnist/mnist_softmax_ln_op17.onnx
repbn=$source/testdata/mnist/mnist_softmax_prepbn_op17.onnx

fail() {
    echo "$*"
    failed=1
}

# emit FOLDER MODEL [options]
emit() {
    local to=$1 model=$2
    shift 2
    "$vitfold" emit-c "$model" -o "$to" "$@" >report 2>message || fail "emit $to: $(cat message)"
}
