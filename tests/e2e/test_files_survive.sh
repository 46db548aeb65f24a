#!/bin/bash
# Files are whole whatever happens: the tool is killed while it writes, a file it reads is cut
# short, the output is the input, the folder takes no files, the disk is full.
set -eu
exec python3 "${VITFOLD_SOURCE:-.}/tests/support/files_survive.py" \
    "${VITFOLD:-build/vitfold}" "${VITFOLD_SOURCE:-.}/testdata/mnist"
