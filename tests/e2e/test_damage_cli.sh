#!/bin/bash
# Hostile models on the command line: exit status 3 and no output file.
set -u
vitfold=${VITFOLD:-build/vitfold}
cases=${VITFOLD_SOURCE:-.}/testdata/onnx
[ -x "$vitfold" ] || { echo "no $vitfold"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# try WANTED_STATUS MODEL [options]: convert and look at what is left
try() {
    local wanted=$1 model=$2 status=0
    shift 2
    "$vitfold" convert "$model" "$folder/out/m.onnx" --passes none "$@" \
        >/dev/null 2>"$folder/message" || status=$?
    local left
    left=$(ls -A "$folder/out" | wc -l)
    if [ "$status" != "$wanted" ] || { [ "$status" != 0 ] && [ "$left" != 0 ]; }; then
        echo "$model: status $status (not $wanted), $left files left: $(cat "$folder/message")"
        failed=1
    fi
    rm -rf "${folder:?}/out"/*
}

mkdir "$folder/out" "$folder/in"
cp "$cases"/*.onnx "$folder/in"
printf '0123456789abcdef0123456789abcdef' >"$folder/in/good.bin"
ln -s good.bin "$folder/in/link.bin"

try 0 "$folder/in/outside_good.onnx"
for name in dotdot absolute link offset length shape large; do
    try 3 "$folder/in/outside_$name.onnx"
done
try 0 "$folder/in/outside_link.onnx" --allow-linked-data "$folder/in"
printf '0123456789abcdef' >"$folder/in/hard.bin"
ln "$folder/in/hard.bin" "$folder/other"
try 3 "$folder/in/outside_hard.onnx"
try 0 "$folder/in/outside_hard.onnx" --allow-linked-data "$folder/in"

head -c 1000 "$cases/full.onnx" >"$folder/in/cut.onnx"
: >"$folder/in/empty.onnx"
try 3 "$folder/in/cut.onnx"
try 3 "$folder/in/empty.onnx"
try 6 "$folder/in/absent.onnx"
exit $failed
