#!/bin/bash
# The completion of bash offers commands, options and choices, and leaves files to the shell; the
# pages have no fault that groff would tell.
set -eu
source=${VITFOLD_SOURCE:-.}
# shellcheck disable=SC1091
. "$source/docs/completion/vitfold.bash"

# expect WANTED WORD...: what is offered for the last word, one after the other.
expect() {
    local wanted=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _vitfold
    [ "${COMPREPLY[*]}" = "$wanted" ] || { echo "$*: offers '${COMPREPLY[*]}'"; exit 1; }
}

expect "bench" vitfold ben
expect "compare" vitfold help comp
expect "--per-node" vitfold bench model.onnx --per
expect "auto always never" vitfold run --color ""
expect "always" vitfold run --color al
expect "" vitfold run mod
expect "" vitfold run --inputs fi
expect "" vitfold nothing --in

command -v groff >/dev/null || exit 0
for page in "$source"/docs/man/*.1; do
    faults=$(groff -man -ww -z -Tutf8 "$page" 2>&1)
    [ -z "$faults" ] || { echo "$faults"; exit 1; }
done
