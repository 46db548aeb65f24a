#!/bin/bash
# A plan holds each weight once, wherever the file has it, and the peak that bench tells is the
# process's own, not that of whoever started it.
set -eu
[ -z "${VITFOLD_SANITIZE:-}" ] || { echo "memory of sanitizers is not the tool's"; exit 77; }
exec python3 - "${VITFOLD:-build/vitfold}" "${VITFOLD_SOURCE:-.}" <<'PYTHON'
import json, os, subprocess, sys, tempfile

vitfold, source = map(os.path.abspath, sys.argv[1:])
sys.dont_write_bytecode = True
sys.path.insert(0, f"{source}/testdata")
from make_onnx_cases import FLOAT, Msg, node, num, opset, sub, tensor, value_info

SIDE, N, MIB = 1024, 16, 1 << 20
WEIGHTS = N * SIDE * SIDE * 4
OTHER = 40 * MIB  # libraries, one matrix, the file's pages at the edges


def write_model(path):
    """Products by N matrices, which lie at all remainders of 4."""
    names = [f"x{'y' * i}" for i in range(N + 1)]
    weights = [tensor(5, FLOAT, [SIDE, SIDE], b"\x66\x66\x06\x3a" * (SIDE * SIDE),
                      name="w" * (i + 1)) for i in range(N)]
    nodes = [node("MatMul", [names[i], "w" * (i + 1)], [names[i + 1]]) for i in range(N)]
    graph = sub(7, *nodes, *weights, value_info(11, names[0], FLOAT, [1, SIDE]),
                value_info(12, names[N], FLOAT, [1, SIDE]))
    with open(path, "wb") as file:
        file.write(Msg(num(1, 8), graph, opset(8, "", 17)).bytes())


def peak(model, *words):
    done = subprocess.run([vitfold, "bench", model, "--json", "--repeats", "1", "--warmup", "1",
                           "--threads", "1", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["models"][0]["weight_bytes"] == WEIGHTS, report
    return report["peak_rss_bytes"]


with tempfile.TemporaryDirectory() as folder:
    write_model(f"{folder}/m.onnx")
    large = bytearray(4 * WEIGHTS)
    large[::4096] = b"x" * len(large[::4096])
    for words in [], ["--fuse=off"]:
        n = peak(f"{folder}/m.onnx", *words)
        assert WEIGHTS <= n <= WEIGHTS + OTHER, (words, n / MIB)
    assert len(large) > 0
PYTHON
