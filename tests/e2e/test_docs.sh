# docs/passes.md and docs/operators.md say what the program says.
cd "$VITFOLD_SOURCE" || exit 1
exec scripts/make_docs --check
