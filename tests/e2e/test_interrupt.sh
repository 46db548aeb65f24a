#!/bin/bash
# Searches tell their progress on a terminal alone, and Ctrl-C gives what is known so far.
set -eu
python3 - "${VITFOLD:-build/release/vitfold}" "${VITFOLD_SOURCE:-.}/testdata/mnist" <<'PYTHON'
import json, os, pty, shutil, signal, subprocess, sys, tempfile, time

vitfold, mnist = sys.argv[1:]
model, data = f"{mnist}/mnist_softmax_ln_op17.onnx", f"{mnist}/test_500.npz"
on_data = ["--data", data, "--json"]
sensitivity = [vitfold, "sensitivity", model, "--pass", "normalize-skip", *on_data]
bisect = [vitfold, "bisect", model, "--passes", "normalize-skip", "--metric", "accuracy",
          "--threshold", "0.9", *on_data]


def usual():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_on_terminal(words, until, preparation=usual):
    """Interrupt `words` when their terminal shows `until`."""
    master, slave = pty.openpty()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=slave, preexec_fn=preparation)
    os.close(slave)
    seen = b""
    while until not in seen:
        seen += os.read(master, 4096)
    child.send_signal(signal.SIGINT)
    out = child.communicate(timeout=300)[0]
    os.close(master)
    return child.returncode, json.loads(out)


status, report = run_on_terminal(sensitivity, b"\r3/9 ")
assert status == 130, status
assert report["complete"] is False and report["sites_count"] == 8
assert 2 <= len(report["sites"]) < 8, len(report["sites"])

status, report = run_on_terminal(bisect, b"\r2/")
assert status == 130, status
assert report["complete"] is False and len(report["states"]) >= 1

# Before anything was measured no number is told.
for words in (sensitivity + ["--budget", "0.1", "--svg", "/dev/null"], bisect):
    status, report = run_on_terminal(words + ["--batch", "1"], b"0/1 ")
    assert status == 130, status
    assert report["complete"] is False and report["noise"] is None

# Who starts it with Ctrl-C ignored, as a shell does in the background, wants it to go on.
ignored = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
status, report = run_on_terminal(sensitivity + ["--samples", "64"], b"\r2/9 ", ignored)
assert status == 0 and report["complete"] is True, status

# A program that is not whole leaves no folder behind, from emit-c or from convert.
def emit_and_interrupt(words, folder, number):
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=usual)
    while child.poll() is None and not any(name.startswith(".v") for name in os.listdir(folder)):
        time.sleep(0.0005)
    child.send_signal(number)
    return child.wait(timeout=300)


n_interrupted = 0
with tempfile.TemporaryDirectory() as folder:
    emit = [vitfold, "emit-c", model, "-o", f"{folder}/c", "-q"]
    convert = [vitfold, "convert", model, f"{folder}/out.onnx", "--emit-c", f"{folder}/c", "-q"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 3:
        for words in (emit, convert):
            n_interrupted += emit_and_interrupt(words, folder, number) == -number
            left = os.listdir(folder)
            assert left in ([], ["c"], ["out.onnx"], ["c", "out.onnx"], ["out.onnx", "c"]), left
            shutil.rmtree(f"{folder}/c", ignore_errors=True)
print(n_interrupted, "of 18 programs interrupted")
assert n_interrupted > 0

# No terminal: nothing on standard error.
done = subprocess.run(sensitivity + ["--samples", "64"], capture_output=True, timeout=300)
assert done.returncode == 0 and done.stderr == b"", done.stderr
PYTHON
