#!/usr/bin/env python3
"""Hold the sources against the house rules: layers, sizes, words.

    python3 lint.py ROOT

Prints one line per fault and exits 1 if there is any. Layers: which folder may include which
(docs/design.md). Sizes: lines of a file and of a function, columns of a line.
"""
import os
import re
import sys

KERNELS, BASE, EXEC = "runtime/kernels", "runtime/base", "runtime/exec"
IR, MATCH, REWRITE, PASSES = "passes/ir", "passes/match", "passes/rewrite", "passes"
BELOW_API = (KERNELS, BASE, EXEC, IR, MATCH, REWRITE, PASSES, "converter/onnx", "converter/data",
             "converter/lower", "converter/emit", "converter/draw", "converter/report")

# what every folder may know of the kernels' folder
DTYPES = ("runtime/kernels/dtype.h", "runtime/kernels/number.h")

# folder: folders (or single headers) it may include, besides itself
LAYERS = {
    KERNELS: (),
    BASE: (),
    EXEC: (KERNELS, BASE),
    IR: (BASE, *DTYPES),
    MATCH: (IR, BASE, *DTYPES),
    REWRITE: (MATCH, IR, BASE, *DTYPES),
    PASSES: (IR, MATCH, REWRITE, BASE, KERNELS),
    "converter/data": (BASE, *DTYPES),
    "converter/onnx": (IR, BASE, *DTYPES),
    "converter/lower": (IR, EXEC, KERNELS, BASE),
    "converter/emit": (EXEC, KERNELS, BASE),
    "converter/draw": (IR, BASE, *DTYPES),
    "converter/report": ("passes/rewrite/journal.h", "converter/draw", IR, BASE),
    "converter/api": BELOW_API,
    "converter/cli": ("converter/api", BASE),
}

# library header: the only places that may include it
LIBRARIES = {
    "cblas.h": re.compile(r"runtime/kernels/\w+_blas\.c$"),
    "onnx.pb-c.h": re.compile(r"converter/onnx/"),
    "libxml/": re.compile(r"converter/(draw|report|api)/"),
    "graphviz/": re.compile(r"converter/draw/"),
    "zip.h": re.compile(r"converter/data/"),
    "png.h": re.compile(r"converter/data/"),
    "jpeglib.h": re.compile(r"converter/data/"),
    "jansson.h": re.compile(r"$^"),  # tests alone
}

FILE_LIMIT = {".c": 500, ".h": 250}
TEST_FILE_LIMIT = 400
FUNCTION_LIMIT = 60
KERNEL_FUNCTION_LIMIT = 100
COLUMNS = 100

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
WORDS = re.compile(r"\bTODO\b|\bFIXME\b|\bXXX\b|\bHACK\b")


def layer_of(path):
    folder = os.path.dirname(path)
    while folder and folder not in LAYERS:
        folder = os.path.dirname(folder)
    return folder


def may_include(layer, target):
    if layer_of(target) == layer:
        return True
    return any(target == allowed or layer_of(target) == allowed for allowed in LAYERS[layer])


def check_includes(path, lines):
    layer = layer_of(path)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        if quote == '"' and layer and layer_of(target) and not may_include(layer, target):
            yield f"{path}:{number}: {layer} must not include {target}"
        for library, place in LIBRARIES.items():
            if target.startswith(library) and not path.startswith("tests/") and not place.match(path):
                yield f"{path}:{number}: {library} does not belong here"


def check_sizes(path, lines):
    test = path.startswith("tests/")
    limit = TEST_FILE_LIMIT if test else FILE_LIMIT[os.path.splitext(path)[1]]
    if len(lines) > limit:
        yield f"{path}: {len(lines)} lines, at most {limit}"
    most = KERNEL_FUNCTION_LIMIT if layer_of(path) == KERNELS else FUNCTION_LIMIT
    start = 0
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > most:
                yield f"{path}:{start}: function of {number - start - 1} lines, at most {most}"
            start = 0
        if len(line) > COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS}"


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        if WORDS.search(line):
            yield f"{path}:{number}: use NEEDSWORK for an open decision"
        if line != line.rstrip():
            yield f"{path}:{number}: space at the end of the line"
        if "\t" in line:
            yield f"{path}:{number}: tab"


def check_guard(path, lines):
    if path.endswith(".h") and not any(line.startswith("#ifndef VF") for line in lines):
        yield f"{path}: no include guard VF..._H"


# What a kernel's source names for itself: emit-c --single-file joins any of them.
OWN_NAME = re.compile(r"static [^(=]*?\b(\w+)\(|typedef struct (\w+)")
own_names = {}


def check_own_names(path, lines):
    if not path.startswith(KERNELS + "/") or not path.endswith(".c"):
        return
    for number, line in enumerate(lines, 1):
        found = OWN_NAME.match(line)
        name = found and (found[1] or found[2])
        first = own_names.setdefault(name, path) if found else path
        if first != path:
            yield f"{path}:{number}: {name} is also a name in {first}"


# C leaves the order of arguments to the compiler: two that make nodes would order a graph by it.
CALL = re.compile(r"\bvf_rewrite_\w+\(|[(),;]")


def check_argument_order(path, lines):
    if not path.startswith("passes"):
        return
    makers, number = [[]], 0  # of each open parenthesis: where its arguments make nodes
    for number, line in enumerate(lines, 1):
        for token in CALL.findall(line):
            if token == ";":
                makers = [[]]
            elif token == ")":
                inner = makers.pop() if len(makers) > 1 else []
                if len(inner) > 1:
                    yield f"{path}:{inner[1]}: a second argument that makes a node: name it first"
            elif token != ",":
                makers[-1] += [number] if len(token) > 1 else []
                makers.append([])


def sources(root):
    for top in ("runtime", "passes", "converter", "tests"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root, faults, count = sys.argv[1], [], 0
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            lines = f.read().split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        count += 1
        for check in (check_includes, check_sizes, check_words, check_guard, check_own_names,
                      check_argument_order):
            faults += check(path, lines)
    print("\n".join(faults + [f"{count} files, {len(faults)} faults"]))
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
