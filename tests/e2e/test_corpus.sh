#!/bin/bash
# The large corpus of exporter graphs: all checks of its own script must pass.
set -eu
vitfold=${VITFOLD:-build/vitfold}
corpus=${VITFOLD_CORPUS:-../shared}
script=$corpus/tools/check_corpus.py
[ -f "$script" ] || { echo "skipped: no corpus at $corpus"; exit 77; }
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: no python3 with numpy"; exit 77; }
# Sanitizers cost a lot of time and the same code is run: one family of models is enough then.
filter=${VITFOLD_SANITIZE:+own_}
python3 "$script" --vitfold "$vitfold" "$corpus/models" --filter "$filter" | tee /dev/stderr |
    tail -1 | grep -q ', 0 failed,'
