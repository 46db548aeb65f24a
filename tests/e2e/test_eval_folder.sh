#!/bin/bash
# eval on class folders: arrays and images give what the npz file with the same samples gives.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
mnist=${VITFOLD_SOURCE:-.}/testdata/mnist
model=$mnist/mnist_softmax_ln_op17.onnx
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: no python3 with numpy"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# arrays/CLASS/N.npy, digits/CLASS/N.png, named/LETTER/N.npy: the first 120 samples.
python3 - "$mnist/test_500.npz" "$work" <<'PYTHON'
import pathlib, struct, sys, zlib
import numpy as np

data, work = np.load(sys.argv[1]), pathlib.Path(sys.argv[2])


def png(pixels):
    height, width = pixels.shape
    chunk = lambda kind, body: (struct.pack(">I", len(body)) + kind + body +
                                struct.pack(">I", zlib.crc32(kind + body)))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


for i in range(120):
    x, y = data["x"][i], int(data["y"][i])
    for folder in (f"arrays/{y}", f"digits/{y}", f"named/{chr(97 + y)}"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    np.save(work / f"arrays/{y}/{i}.npy", x)
    np.save(work / f"named/{chr(97 + y)}/{i}.npy", x)
    pixels = np.rint((x[0] * 0.3081 + 0.1307) * 255).clip(0, 255).astype(np.uint8)
    (work / f"digits/{y}/{i}.png").write_bytes(png(pixels))
(work / "arrays/.hidden").write_text("passed over")
PYTHON

fail() { echo "$1"; exit 1; }

# tail of the report: samples, top-1, top-5
numbers() { "$vitfold" eval "$model" "$@" | tail -3; }
want=$(numbers --data "$mnist/test_500.npz" --samples 120)
[ "$(numbers --data "$work/arrays")" = "$want" ] || fail "arrays differ from the npz file"
[ "$(numbers --data "$work/named")" = "$want" ] || fail "named classes differ"
[ "$(numbers --data "$work/digits" --resize 28 --mean 0.1307 --std 0.3081)" = "$want" ] ||
    fail "images differ"
"$vitfold" eval "$model" --data "$work/digits" >"$work/out"
grep -q '^preprocessing: short side to 32 .* middle 28x28, brightness, v/255, mean 0, std 1; ' \
    "$work/out" || fail "the preprocessing is not told: $(cat "$work/out")"
grep -q '^classes  10 folders, numbered by their names' "$work/out" || fail "classes are not told"
"$vitfold" sensitivity "$model" --pass softmax-to-relu --data "$work/arrays" --samples 20 |
    grep -q 'accuracy of the original' || fail "sensitivity takes no folder"

# refused STATUS PART ARGUMENT...
refused() {
    local expected=$1 part=$2 status=0
    shift 2
    "$vitfold" eval "$model" "$@" >"$work/out" 2>"$work/message" || status=$?
    [ "$status" = "$expected" ] || fail "$*: status $status, not $expected: $(cat "$work/message")"
    grep -qF "$part" "$work/message" || fail "$*: $(cat "$work/message")"
}
refused 2 "takes 28" --data "$work/digits" --size 32
refused 2 "no piece of 28 x 28" --data "$work/digits" --resize 20
refused 2 "neither one number nor three" --data "$work/digits" --mean 1,2 --std 1
refused 2 "given together" --data "$work/digits" --mean 1
refused 2 "not above 0" --data "$work/digits" --mean 0 --std 0
mkdir "$work/empty"
refused 3 "no samples" --data "$work/empty"
cp "$work/digits/1/"*.png "$work/arrays/1/"
refused 3 "holds images and arrays" --data "$work/arrays"
echo text >"$work/named/a/readme.txt"
refused 3 "neither png, jpeg nor npy" --data "$work/named"
rm "$work/named/a/readme.txt"
echo text >"$work/named/labels.txt"
refused 3 "'labels.txt' is no class folder" --data "$work/named"
rm "$work/named/labels.txt"
for image in "$work"/digits/7/*.png; do head -c 60 "$image" >"$image.cut"; mv "$image.cut" "$image"; done
refused 3 "cannot read image" --data "$work/digits" --resize 28
