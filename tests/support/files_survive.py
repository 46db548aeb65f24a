"""What test_files_survive.sh says.

usage: files_survive.py VITFOLD FOLDER_OF_MNIST
"""

import contextlib
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

VITFOLD, MNIST = map(os.path.abspath, sys.argv[1:])
MODEL = f"{MNIST}/mnist_softmax_ln_op17.onnx"
N_KILL = 100


def varint(n):
    return bytes([n]) if n < 128 else bytes([n % 128 | 128]) + varint(n // 128)


def field(number, value):
    """A protobuf field: an int, or bytes with their length."""
    if isinstance(value, int):
        return varint(number * 8) + varint(value)
    return varint(number * 8 + 2) + varint(len(value)) + value


def large_model(n):
    """y = x + w with w of `n` floats."""
    def info(name):
        shape = field(2, field(1, field(1, n)))
        return field(1, name) + field(2, field(1, field(1, 1) + shape))
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"Add")
    weight = field(1, n) + field(2, 1) + field(8, b"w") + field(9, struct.pack("<f", 0.5) * n)
    graph = field(1, node) + field(2, b"g") + field(5, weight) + field(11, info(b"x")) + \
        field(12, info(b"y"))
    return field(1, 8) + field(7, graph) + field(8, field(1, b"") + field(2, 17))


def vitfold(*words, folder=None, **environment):
    done = subprocess.run([VITFOLD, *words], cwd=folder, capture_output=True, timeout=300,
                          env={**os.environ, **environment})
    return done.returncode, done.stderr.decode()


def expect(is_so, *facts):
    if not is_so:
        sys.exit(f"not as expected: {facts}")


def duration_of(words, folder):
    start = time.monotonic()
    expect(vitfold(*words, folder=folder)[0] == 0, words)
    return time.monotonic() - start


def check_kills(folder):
    """Killed at any moment, the old file or the new one stands there whole."""
    (folder / "in.onnx").write_bytes(large_model(4 << 20))
    out, words = folder / "out.onnx", ["convert", "in.onnx", "out.onnx", "-q"]
    duration = max(duration_of(words, folder) for _ in range(3))
    new, old = out.read_bytes(), b"old"
    chance, n_old, n_left = random.Random(6), 0, 0
    for _ in range(N_KILL):
        out.write_bytes(old)
        child = subprocess.Popen([VITFOLD, *words], cwd=folder)
        time.sleep(chance.uniform(0, duration))
        child.send_signal(signal.SIGKILL)
        child.wait()
        found = out.read_bytes()
        expect(found in (old, new), "neither old nor new", len(found))
        n_old += found == old
        for left in set(os.listdir(folder)) - {"in.onnx", "out.onnx"}:
            # The moment between the temporary name and the rename.
            expect(left.startswith(".vitfold-") and left.endswith(".tmp"), left)
            n_left += 1
            (folder / left).unlink()
    print(f"killed {N_KILL} times within {duration * 1000:.0f} ms: {n_old} old files, "
          f"{N_KILL - n_old} new ones, {n_left} temporary names left")


def check_cuts(folder, shim):
    """A file that is cut while it is mapped is an error and no signal."""
    expect(vitfold("convert", MODEL, "x.onnx", "--external-data", "always", "-q", folder=folder)[0]
           == 0)
    data, statuses, texts = folder / "x.onnx.data", [], ""
    kept = data.read_bytes()
    names = set(os.listdir(folder))
    for words in (["run", "x.onnx", "--random", "1", "-q"], ["convert", "x.onnx", "y.onnx", "-q"],
                  ["convert", "x.onnx", "y.onnx", "-q", "--passes", "none"],
                  ["emit-c", "x.onnx", "-o", "c", "-q"]):
        for call, at in [("mmap", 1), ("mmap", 2), ("mmap", 3), ("write", 1), ("write", 2)]:
            data.write_bytes(kept)
            status, said = vitfold(*words, folder=folder, LD_PRELOAD=shim, FAIL_CALL=call,
                                   FAIL_AT=str(at), FAIL_CUT="x.onnx.data")
            expect(status in (0, 3, 6), words, call, at, status, said)
            expect(status == 0 or said.count("\n") == 1, words, said)
            statuses.append(status)
            texts += said
            for name in set(os.listdir(folder)) - names:
                expect(status == 0 or name.startswith(".vitfold-"), name)
                subprocess.run(["rm", "-rf", folder / name], check=True)
    expect("x.onnx.data': the file was cut short while it was read" in texts, texts)
    expect("a file that it is made of was cut short" in texts, texts)
    print("cut", len(statuses), "times:", {s: statuses.count(s) for s in sorted(set(statuses))})


def check_folder(folder, shim):
    """Many outputs, of which the fifth fails: those of an earlier run stay, else there are none."""
    words = ["run", MODEL, "--random", "1", "-o", "d", "--save-all", "-q"]
    fails = {"LD_PRELOAD": shim, "FAIL_CALL": "rename", "FAIL_AT": "5"}
    expect(vitfold(*words, folder=folder, **fails)[0] == 6)
    expect(not os.listdir(folder), os.listdir(folder))
    expect(vitfold(*words, folder=folder)[0] == 0)
    names = sorted(os.listdir(folder / "d"))
    expect(vitfold(*words, folder=folder, **fails)[0] == 6)
    expect(len(names) > 5 and sorted(os.listdir(folder / "d")) == names, names)


def check_onto_itself(folder):
    """A model with external data is converted onto itself."""
    words = ["--external-data", "always", "-q"]
    expect(vitfold("convert", MODEL, "a.onnx", *words, folder=folder)[0] == 0)
    before = [(folder / name).read_bytes() for name in ("a.onnx", "a.onnx.data")]
    expect(vitfold("convert", "a.onnx", "a.onnx", "--passes", "none", *words, folder=folder)[0]
           == 0)
    expect(before == [(folder / name).read_bytes() for name in ("a.onnx", "a.onnx.data")])


@contextlib.contextmanager
def mounted(folder, options):
    """A small file system of its own at `folder`; None where that is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
                          capture_output=True) if os.geteuid() == 0 else None
    is_there = done is not None and done.returncode == 0
    try:
        yield folder if is_there else None
    finally:
        if is_there:
            subprocess.run(["umount", folder], check=True)


def refuses(folder, before):
    for words in (["convert", MODEL, "m.onnx", "-q"], ["emit-c", MODEL, "-o", "c", "-q"],
                  ["convert", MODEL, "m.onnx", "--external-data", "always", "-q"],
                  ["run", MODEL, "--random", "1", "--save-all", "--outputs", "m.npz", "-q"]):
        status, said = vitfold(*words, folder=folder)
        expect(status == 6 and said.count("\n") == 1, words, status, said)
        expect(sorted(os.listdir(folder)) == before, words, os.listdir(folder))


def check_no_room(folder):
    """Folders that take no files, and full disks. /proc takes none from anybody."""
    status, said = vitfold("convert", MODEL, "/proc/m.onnx", "-q")
    expect(status == 6 and said.count("\n") == 1, status, said)
    with mounted(folder / "full", "size=64k") as full:
        if full is not None:
            (full / "m.onnx").write_bytes(b"old")
            refuses(full, ["m.onnx"])
            expect((full / "m.onnx").read_bytes() == b"old")
    with mounted(folder / "fixed", "ro") as fixed:
        if fixed is not None:
            refuses(fixed, [])
    print("no file system to fill" if full is None else "full and read-only disks refused")


def main():
    shim = os.environ.get("VITFOLD_FAIL_SHIM")
    checks = [check_kills, check_onto_itself, check_no_room]
    if shim:
        checks.append(lambda folder: check_cuts(folder, shim))
        checks.append(lambda folder: check_folder(folder, shim))
    for check in checks:
        with tempfile.TemporaryDirectory() as root:
            check(pathlib.Path(root))


main()
