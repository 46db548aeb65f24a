#!/usr/bin/env python3
"""Hold JSON documents against the schemas that their "schema" keys name.

    validate_json.py SCHEMA_FOLDER DOCUMENT.json...

Every schema of the folder must be met by at least one document.
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


def faults_of(path, schemas, met):
    try:
        document = json.loads(path.read_text())
        validator = schemas[document["schema"]]
    except (ValueError, KeyError, TypeError) as error:
        return [f"{path.name}: no document of a known schema: {error!r}"]
    met.add(document["schema"])
    return [f"{path.name}: {error.json_path}: {error.message[:200]}"
            for error in validator.iter_errors(document)]


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
