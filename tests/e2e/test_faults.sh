#!/bin/bash
# Calls to the system fail, one at a time, through the commands that write: memory, disk, mappings.
# The tool then says so in one sentence with status 6, or does without (the same bytes and status);
# every file is whole, old or new, and nothing else is left. Under sanitizers nothing leaks either.
# It fails one of eight of the calls it could choose, under sanitizers one of thirty; VITFOLD_FAULTS=1
# fails them all, and VITFOLD_FAULTS="every alloc write" each call of these kinds that there is.
set -eu
share=0.12
[ -z "${VITFOLD_SANITIZE:-}" ] || share=0.03
[ -n "${VITFOLD_FAIL_SHIM:-}" ] || { echo "no shim to preload"; exit 77; }
exec python3 "${VITFOLD_SOURCE:-.}/tests/support/fail_calls.py" \
    "${VITFOLD:-build/vitfold}" "${VITFOLD_SOURCE:-.}/testdata" "$VITFOLD_FAIL_SHIM" \
    ${VITFOLD_FAULTS:-$share}
