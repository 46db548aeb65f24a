# testdata/MANIFEST.tsv against the files.
exec python3 "$VITFOLD_SOURCE/tests/lint/manifest.py" "$VITFOLD_SOURCE/testdata"
