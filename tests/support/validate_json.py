#!/usr/bin/env python3
"""Hold JSON documents against the schemas that their "schema" keys name.

    validate_json.py SCHEMA_FOLDER DOCUMENT.json...

A document may hold others. Every schema of the folder must be met by at least one document.
"""
import json
import pathlib
import sys

from jsonschema import Draft202012Validator


def load_schemas(folder):
    schemas = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        schema = json.loads(path.read_text())
        Draft202012Validator.check_schema(schema)
        schemas[schema["$id"]] = Draft202012Validator(schema)
    return schemas


def documents_in(value):
    """The documents within a document, itself first."""
    if isinstance(value, dict) and "schema" in value:
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    for part in parts:
        yield from documents_in(part)


def faults_of(path, schemas, met):
    try:
        found = list(documents_in(json.loads(path.read_text())))
        pairs = [(document, schemas[document["schema"]]) for document in found]
    except (ValueError, KeyError, TypeError) as error:
        return [f"{path.name}: no document of a known schema: {error!r}"]
    met.update(document["schema"] for document in found)
    faults = [f"{path.name}: {error.json_path}: {error.message[:200]}"
              for document, validator in pairs for error in validator.iter_errors(document)]
    return faults if found else [f"{path.name}: no document"]


def main():
    schemas = load_schemas(sys.argv[1])
    met = set()
    faults = [fault for name in sys.argv[2:]
              for fault in faults_of(pathlib.Path(name), schemas, met)]
    faults += [f"no document for schema {name}" for name in sorted(schemas.keys() - met)]
    print("\n".join(faults[:40]), end="\n" if faults else "")
    print(f"{len(sys.argv) - 2} documents, {len(schemas)} schemas, {len(faults)} faults")
    return 1 if faults or len(sys.argv) == 2 else 0


if __name__ == "__main__":
    sys.exit(main())
