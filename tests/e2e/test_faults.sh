#!/bin/bash
# Calls to the system fail, one at a time, through the commands that write: memory, disk, mappings.
# The tool then says so in one sentence with status 6, or does without (the same bytes and 0);
# every file is whole, old or new, and nothing else is left.
set -eu
[ -n "${VITFOLD_FAIL_SHIM:-}" ] || { echo "no shim to preload"; exit 77; }
exec python3 "${VITFOLD_SOURCE:-.}/tests/support/fail_calls.py" \
    "${VITFOLD:-build/vitfold}" "${VITFOLD_SOURCE:-.}/testdata" "$VITFOLD_FAIL_SHIM"
