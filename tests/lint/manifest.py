#!/usr/bin/env python3
"""Hold testdata/MANIFEST.tsv against the files beside it.

    python3 manifest.py TESTDATA [--write]

Every file but scripts, Markdown and the list itself must have a row with its SHA-256; every row
a file. --write rewrites the digests and adds rows for new files (fill in their last column).
"""
import hashlib
import os
import sys

SKIP = (".py", ".md", ".tsv")


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def files(root):
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if not name.endswith(SKIP):
                path = os.path.join(folder, name)
                found[os.path.relpath(path, root)] = digest(path)
    return found


def rows(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if line.strip()]
    return {name: (sha, made_by) for name, sha, made_by in lines[1:]}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    root = sys.argv[1]
    manifest = os.path.join(root, "MANIFEST.tsv")
    found, listed = files(root), rows(manifest)
    if sys.argv[2:] == ["--write"]:
        with open(manifest, "w", encoding="utf-8") as f:
            f.write("file\tsha256\tmade by\n")
            for name in sorted(found):
                f.write(f"{name}\t{found[name]}\t{listed.get(name, ('', 'by hand'))[1]}\n")
        return
    faults = [f"{n}: no row in MANIFEST.tsv" for n in sorted(found.keys() - listed.keys())]
    faults += [f"{n}: a row but no file" for n in sorted(listed.keys() - found.keys())]
    faults += [f"{n}: digest differs" for n in sorted(found) if n in listed and listed[n][0] != found[n]]
    print("\n".join(faults + [f"{len(found)} files, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
