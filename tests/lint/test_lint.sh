# The house rules over all sources.
exec python3 "$VITFOLD_SOURCE/tests/lint/lint.py" "$VITFOLD_SOURCE"
