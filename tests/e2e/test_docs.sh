# What scripts/make_docs writes says what the program says.
cd "$VITFOLD_SOURCE" || exit 1
exec scripts/make_docs --check
