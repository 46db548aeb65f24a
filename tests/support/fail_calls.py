"""Fails each call of the commands below once and looks at what is left; see test_faults.sh.

usage: fail_calls.py VITFOLD TESTDATA SHIM [SHARE]

SHARE 0.1 fails a tenth as many calls.
"""

import collections
import concurrent.futures
import errno
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

VITFOLD, TESTDATA, SHIM = map(os.path.abspath, sys.argv[1:4])
SHARE = float(sys.argv[4]) if len(sys.argv) > 4 else 1
MODELS = ["mnist/mnist_softmax_prepbn_op17.onnx", "onnx/encodings.onnx", "onnx/loop.onnx"]
COMMANDS = {
    "convert": ["convert", "IN", "m.onnx"],
    "html": ["convert", "IN", "m.onnx", "--report", "m.html"],
    "json": ["convert", "IN", "m.onnx", "--report", "m.json", "--save-recipe", "m.xml"],
    "external": ["convert", "IN", "m.onnx", "--external-data", "always", "--emit-c", "c"],
    "run": ["run", "IN", "--random", "1", "--outputs", "m.npz", "--threads", "1"],
    "folder": ["run", "IN", "--random", "1", "-o", "d", "--save-all", "--threads", "1"],
    "emit-c": ["emit-c", "IN", "-o", "c"],
}
TOO_MANY_FILES = "folder", MODELS[0]
# kind of call: what errno says, how many of the first are failed, and how many of the others
KINDS = {
    "alloc": (errno.ENOMEM, 60, 20),
    "libc-alloc": (errno.ENOMEM, 20, 10),
    "library-alloc": (errno.ENOMEM, 10, 10),
    "write": (errno.ENOSPC, 10, 10),
    "fsync": (errno.EIO, 10, 5),
    "rename": (errno.EIO, 10, 5),
    "linkat": (errno.ENOSPC, 10, 5),
    "ftruncate": (errno.EIO, 20, 0),
    "mmap": (errno.ENOMEM, 20, 5),
    "open": (errno.EACCES, 20, 5),
    "mkdir": (errno.ENOSPC, 10, 5),
}


def tree(folder):
    """Bytes of every file in `folder`, by its path; of folders, None."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
            for p in pathlib.Path(folder).rglob("*")}


def call(words, folder, **shim):
    """Run in `folder`; the status, what was said on standard error, and what the shim noted."""
    log = folder + ".log"
    pathlib.Path(log).write_text("")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "LD_PRELOAD": SHIM, "FAIL_LOG": log}
    environment |= {f"FAIL_{key.upper()}": str(value) for key, value in shim.items()}
    done = subprocess.run([VITFOLD, *words], cwd=folder, env=environment, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    return done.returncode, done.stderr.decode(), pathlib.Path(log).read_text().strip()


def start(folder, old):
    """`folder` with the files of an earlier run, `old`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(old, folder)


def judge_files(before, after, new):
    """What is wrong with the files, or None."""
    for path in after.keys() | before.keys():
        if path not in before and path not in new:
            return f"'{path}' is left"
        if path not in after or after[path] not in (before.get(path), new.get(path)):
            return f"'{path}' is neither old nor new"
    return None


def judge_words(status, said):
    """What is wrong with what the tool said, or None."""
    if status not in (0, 6):
        return f"status {status}"
    if status == 6 and (said.count("vitfold: error: ") != 1 or said.count("\n") != 1):
        return "not one sentence"
    return None


def points(n_call, n_first, n_other):
    """Which calls to fail: the first ones, then some at even distances; of all these a SHARE."""
    rest = max(n_call - n_first, 0)
    others = {n_first + 1 + i * rest // n_other for i in range(n_other)} if rest else set()
    whole = sorted(set(range(1, min(n_call, n_first) + 1)) | others)
    n = math.ceil(SHARE * len(whole))
    return [whole[i * len(whole) // n] for i in range(n)]


class Case:
    """One command on one model, in a folder with files of an earlier run, or without."""

    def __init__(self, root, model, name):
        self.name = f"{name} {model}"
        self.words = [os.path.join(TESTDATA, model) if w == "IN" else w for w in COMMANDS[name]]
        self.root = tempfile.mkdtemp(dir=root)
        self.old, self.folder = self.root + "/old", self.root + "/now"
        os.mkdir(self.old)
        self.count = collections.Counter()
        self.faults = []

    def prepare(self):
        """The files that an undisturbed run makes, twice: the second over changed ones."""
        assert call(self.words, self.old)[0] == 0, self.name
        self.new = tree(self.old)
        for path, data in self.new.items():
            if data is not None and not path.startswith("c/"):
                pathlib.Path(self.old, path).write_bytes(b"old")
        self.before = tree(self.old)

    def fail(self, kind, at):
        start(self.folder, self.old)
        status, said, caller = call(self.words, self.folder, call=kind, at=at,
                                    errno=KINDS[kind][0])
        after = tree(self.folder)
        wrong = judge_files(self.before, after, self.new) or judge_words(status, said)
        if wrong is None and status == 0 and after != self.new:
            wrong = "status 0 and other files"
        self.count[kind, f"status {status}"] += 1
        if wrong is not None:
            self.faults.append(f"{self.name}: {kind} {at} of {caller}: {wrong}: {said}")

    def run(self):
        self.prepare()
        for kind, (_, n_first, n_other) in KINDS.items():
            start(self.folder, self.old)
            n_call = int(call(self.words, self.folder, call=kind)[2])
            self.count[kind, "calls"] += n_call
            for at in points(n_call, n_first, n_other):
                self.fail(kind, at)
        return self


def main():
    count, faults = collections.Counter(), []
    with tempfile.TemporaryDirectory() as root:
        cases = [Case(root, model, name) for model in MODELS for name in COMMANDS
                 if (name, model) != TOO_MANY_FILES]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for case in pool.map(Case.run, cases):
                count += case.count
                faults += case.faults
    for key, n in sorted(count.items()):
        print(*key, n)
    print(*faults, sep="\n")
    sys.exit(len(faults) > 0)


main()
