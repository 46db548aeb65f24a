"""Fails each call of the commands below once and looks at what is left; see test_faults.sh.

usage: fail_calls.py VITFOLD TESTDATA SHIM [SHARE [KIND...]]

SHARE 0.1 fails a tenth as many calls, the same each time; "every" fails each call there is. KINDS
are those of the table below, all if none is given.
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
SHARE = sys.argv[4] if len(sys.argv) > 4 else "1"
MODELS = ["mnist/mnist_softmax_prepbn_op17.onnx", "onnx/encodings.onnx", "onnx/loop.onnx"]
COMMANDS = {
    "convert": ["convert", "IN", "m.onnx"],
    "html": ["convert", "IN", "m.onnx", "--report", "m.html"],
    "json": ["convert", "IN", "m.onnx", "--report", "m.json", "--save-recipe", "m.xml"],
    "external": ["convert", "IN", "m.onnx", "--external-data", "always", "--emit-c", "c"],
    "run": ["run", "IN", "--random", "1", "--outputs", "m.npz", "--threads", "1"],
    "folder": ["run", "IN", "--random", "1", "-o", "d", "--save-all", "--threads", "1"],
    "emit-c": ["emit-c", "IN", "-o", "c"],
    "recipe": ["convert", "IN", "m.onnx", "--recipe", "RECIPE"],
    "explain": ["explain", "IN", "--html", "m.html"],
    "diff": ["diff", "IN", "OTHER", "--html", "m.html"],
    "graph": ["inspect", "IN", "--graph", "graphml", "-o", "m.graphml"],
    "inspect": ["inspect", "IN"],
    "eval": ["eval", "IN", "--data", "DATA", "--threads", "1"],
    "images": ["eval", "IN", "--data", "IMAGES", "--threads", "1"],
    "compare": ["compare", "IN", "OTHER", "--random", "1", "--threads", "1"],
}
MNIST_ALONE = {"eval", "images", "compare"}
OTHER = "mnist/mnist_softmax_ln_op17.onnx"
TOO_MANY_FILES = "folder", MODELS[0]
RECIPE = b"""<?xml version="1.0" encoding="UTF-8"?>
<recipe format="1" clean-up="on">
  <note>Words.</note>
  <skip pass="fuse-gelu"/>
  <pass name="softmax-to-relu" sites="all"><option name="act" value="relu"/></pass>
</recipe>
"""
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
WANTED = sys.argv[5:] or list(KINDS)


Result = collections.namedtuple("Result", "status out said noted")


def tree(folder):
    """Bytes of every file in `folder`, by its path; of folders, None."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
            for p in pathlib.Path(folder).rglob("*")}


def call(words, folder, **shim):
    """Run in `folder`; status, standard output and error, and what the shim noted."""
    log = folder + ".log"
    pathlib.Path(log).write_text("")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "LD_PRELOAD": SHIM, "FAIL_LOG": log}
    environment |= {f"FAIL_{key.upper()}": str(value) for key, value in shim.items()}
    done = subprocess.run([VITFOLD, *words], cwd=folder, env=environment, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return Result(done.returncode, done.stdout, done.stderr.decode(),
                  pathlib.Path(log).read_text().strip())


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


def judge_result(result, whole):
    """What is wrong with status and words, which may be those of the `whole` run, or None."""
    if result[:3] == whole[:3]:
        return None
    if result.status == whole.status:
        return f"status {result.status} and other words"
    if result.status != 6:
        return f"status {result.status}"
    if not result.said.startswith("vitfold: error: ") or result.said.count("\n") != 1:
        return "not one sentence"
    return None


def points(n_call, n_first, n_other):
    """Which calls to fail: the first ones, then some at even distances; of all these a SHARE."""
    if SHARE == "every":
        return range(1, n_call + 1)
    rest = max(n_call - n_first, 0)
    others = {n_first + 1 + i * rest // n_other for i in range(n_other)} if rest else set()
    whole = sorted(set(range(1, min(n_call, n_first) + 1)) | others)
    n = math.ceil(float(SHARE) * len(whole))
    return [whole[i * len(whole) // n] for i in range(n)]


class Case:
    """One command on one model, in a folder with files of an earlier run, or without."""

    def __init__(self, root, model, name):
        self.command, self.name = name, f"{name} {model}"
        self.root = tempfile.mkdtemp(dir=root)
        named = {"IN": os.path.join(TESTDATA, model), "OTHER": os.path.join(TESTDATA, OTHER),
                 "RECIPE": os.path.join(self.root, "recipe.xml"),
                 "IMAGES": os.path.join(self.root, "images"),
                 "DATA": os.path.join(TESTDATA, "mnist/test_500.npz")}
        self.words = [named.get(word, word) for word in COMMANDS[name]]
        pathlib.Path(named["RECIPE"]).write_bytes(RECIPE)
        os.makedirs(named["IMAGES"] + "/0")
        for image in ("gray.png", "gray.jpg"):
            shutil.copy(os.path.join(TESTDATA, "images", image), named["IMAGES"] + "/0")
        self.old, self.folder = self.root + "/old", self.root + "/now"
        os.mkdir(self.old)
        self.count = collections.Counter()
        self.faults = []

    def prepare(self):
        """The files that an undisturbed run makes, twice: the second over changed ones."""
        self.whole = call(self.words, self.old)
        assert self.whole.status in (0, 1), self.whole
        self.new = tree(self.old)
        for path, data in self.new.items():
            if data is not None and not path.startswith("c/"):
                pathlib.Path(self.old, path).write_bytes(b"old")
        self.before = tree(self.old)

    def fail(self, kind, at):
        start(self.folder, self.old)
        result = call(self.words, self.folder, call=kind, at=at, errno=KINDS[kind][0])
        after = tree(self.folder)
        wrong = judge_files(self.before, after, self.new) or judge_result(result, self.whole)
        if wrong is None and result.status == self.whole.status and after != self.new:
            wrong = "done and other files"
        self.note(kind, "failed", 1)
        self.note(kind, "without harm", result.status == self.whole.status)
        if wrong is not None:
            self.faults.append(f"{self.name}: {kind} {at} of {result.noted}: {wrong}: "
                               f"{result.said}")

    def note(self, kind, what, n):
        self.count[kind, what] += n
        self.count[f"'{self.command}'", what] += n

    def run(self):
        self.prepare()
        for kind in WANTED:
            _, n_first, n_other = KINDS[kind]
            start(self.folder, self.old)
            n_call = int(call(self.words, self.folder, call=kind).noted)
            self.note(kind, "calls", n_call)
            for at in points(n_call, n_first, n_other):
                self.fail(kind, at)
        return self


def main():
    count, faults = collections.Counter(), []
    with tempfile.TemporaryDirectory() as root:
        cases = [Case(root, model, name) for model in MODELS for name in COMMANDS
                 if (name, model) != TOO_MANY_FILES
                 and (model == MODELS[0] or name not in MNIST_ALONE)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for case in pool.map(Case.run, cases):
                count += case.count
                faults += case.faults
    for row in sorted({row for row, _ in count}):
        print(f"{row}: {count[row, 'failed']} of {count[row, 'calls']} calls failed, "
              f"{count[row, 'without harm']} without harm")
    print(*faults, sep="\n")
    sys.exit(len(faults) > 0)


main()
