#!/bin/bash
# No model of the corpus differs from itself, and a diff behind a pass tells exactly the nodes that
# the edits of the journal took out and put in.
set -eu
vitfold=${VITFOLD:-build/release/vitfold}
corpus=${VITFOLD_CORPUS:-../shared}/models
[ -d "$corpus" ] || { echo "skipped: no $corpus"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

n=0
for model in "$corpus"/*.onnx; do
    status=0
    said=$("$vitfold" diff "$model" "$model" 2>&1) || status=$?
    [ "$status" = 0 ] && [ -z "$said" ] ||
        { echo "$model differs from itself, status $status: ${said:0:200}"; exit 1; }
    n=$((n + 1))
done
echo "$n models do not differ from themselves"

n=0
for model in $(ls "$corpus"/*.onnx | awk 'NR % 9 == 3'); do
    for passes in default softmax-to-relu fold-bn; do
        "$vitfold" convert "$model" "$work/out.onnx" -q --passes "$passes" \
            --report "$work/journal.$n.json"
        "$vitfold" diff "$model" "$work/out.onnx" --json >"$work/diff.$n.json" 2>/dev/null || true
        n=$((n + 1))
    done
done
python3 - "$work" "$n" <<'PYTHON'
import json, sys

def name_of(line):
    """The name at the end of a line of the text form; unnamed nodes tell what they make."""
    return line.rsplit(" @", 1)[1] if " @" in line else line.split(" = ")[0]

def by_journal(path):
    gone, came = set(), set()
    for edit in json.load(open(path))["edits"]:
        for name in map(name_of, edit["before"]):
            if name in came:
                came.remove(name)
            else:
                gone.add(name)
        came.update(map(name_of, edit["after"]))
    return gone - came, came - gone

def by_diff(path):
    gone, came = set(), set()
    document = json.load(open(path))
    for node in document["nodes"]:
        if node["a"]:
            gone.add(name_of(node["a"]))
        if node["b"]:
            came.add(name_of(node["b"]))
    for note in document["notes"]:
        if note["what"] == "name of node":
            gone.add(note["a"])
            came.add(note["b"])
    return gone - came, came - gone, document["a"]

faults, n_node = [], 0
for i in range(int(sys.argv[2])):
    told = by_journal(f"{sys.argv[1]}/journal.{i}.json")
    gone, came, file = by_diff(f"{sys.argv[1]}/diff.{i}.json")
    n_node += len(gone) + len(came)
    for what, a, b in (("went", told[0], gone), ("came", told[1], came)):
        if a != b:
            faults.append(f"{file} {i}: {what} by the journal alone {sorted(a - b)[:5]}, "
                          f"by the diff alone {sorted(b - a)[:5]}")
print("\n".join(faults + [f"{sys.argv[2]} diffs, {n_node} nodes that went or came"]))
sys.exit(1 if faults or not n_node else 0)
PYTHON
