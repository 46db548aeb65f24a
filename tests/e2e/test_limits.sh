#!/bin/bash
# Limits refuse a file or a run in one sentence, and options move them.
set -eu
exec python3 - "${VITFOLD:-build/vitfold}" "${VITFOLD_SOURCE:-.}/testdata/mnist" <<'PYTHON'
import os, subprocess, sys, tempfile

vitfold, mnist = map(os.path.abspath, sys.argv[1:])
model = f"{mnist}/mnist_softmax_ln_op17.onnx"


def expect(wanted, text, *words):
    done = subprocess.run([vitfold, *words], capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode == wanted and text in said, (words, done.returncode, said)


def varint(n):
    return bytes([n]) if n < 128 else bytes([n % 128 | 128]) + varint(n // 128)


def field(number, value):
    return varint(number * 8 + 2) + varint(len(value)) + value


def nested(n):
    """A graph with `n` graphs inside each other, each a branch of an If."""
    graph = field(2, b"g")
    for _ in range(n):
        branch = field(1, b"then_branch") + field(6, graph)
        graph = field(1, field(4, b"If") + field(5, branch)) + field(2, b"g")
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


with tempfile.TemporaryDirectory() as folder:
    deep = f"{folder}/deep.onnx"
    with open(deep, "wb") as file:
        file.write(nested(40))
    expect(3, "more than 100 nested messages", "check", deep)
    expect(3, "more than 100 nested messages", "inspect", deep)
    expect(3, "more than 10 nested messages", "check", deep, "--max-nesting", "10")
    done = subprocess.run([vitfold, "check", deep, "--max-nesting", "200"], capture_output=True,
                          text=True)
    assert done.returncode in (1, 3) and "nested messages" not in done.stdout + done.stderr, done

run = ["run", model, "--random", "1", "-q"]
expect(4, "more than 50 fields", "inspect", model, "--max-fields", "50")
expect(6, "bytes of memory, allowed are 1024", *run, "--max-memory", "1k")
with tempfile.TemporaryDirectory() as folder:
    emit = ["emit-c", model, "-o", f"{folder}/c", "--max-memory"]
    expect(6, "bytes of memory, allowed are 1024", *emit, "1k")
    assert os.listdir(folder) == []
    expect(0, "", *emit, "1G", "-q")
expect(0, "", *run, "--max-memory", "1G")

# A dimension that no input has is wrong usage everywhere.
odd = ["--dim", "bacth=2"]
with tempfile.TemporaryDirectory() as folder:
    for words in (["run", model, "--random", "1"], ["compare", model, model], ["bench", model],
                  ["diff", model, model], ["emit-c", model, "-o", f"{folder}/c"],
                  ["convert", model, f"{folder}/out.onnx"], ["inspect", model],
                  ["inspect", model, model], ["inspect", model, "--signal"],
                  ["bisect", model, "--passes", "normalize-skip"],
                  ["sensitivity", model, "--pass", "normalize-skip"]):
        expect(2, "no input has a dimension 'bacth'", *words, *odd)
expect(2, "max-nesting", "inspect", model, "--max-nesting", "1001")
PYTHON
