"""The objections of Kubeflow's published schemas to documents.

Reads lists of Kubernetes objects from standard input, as JSON, and writes one list of sentences for each of them, empty
where nothing is wrong. It runs in the tests' environment, where jsonschema and PyYAML came with kubernetes-validate.
"""

import gzip
import json
import pathlib
import sys

import jsonschema
import yaml

FOLDER = pathlib.Path(__file__).resolve().parent / "data/kubeflow"

# Both have one specification (TrainingRuntimeSpec in Kubeflow's types); the copies here have the cluster's only.
SAME_SCHEMA = {"TrainingRuntime": "ClusterTrainingRuntime"}


def closed(schema):
    """The schema as jsonschema reads it. An API server refuses a field that the schema does not list, which jsonschema has
    to be told; of metadata a definition lists none. An int-or-string is an anyOf already."""
    schema = dict(schema)
    if schema.get("nullable") and "type" in schema:
        schema["type"] = [schema["type"], "null"]
    if "properties" in schema:
        schema["properties"] = {name: closed(inner) for name, inner in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            schema[name] = closed(schema[name])
    return schema


def read_definitions():
    """A validator for each kind, by the version and kind that documents say."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    validators = {}
    for file in sorted(FOLDER.glob("*.yaml.gz")):
        spec = yaml.load(gzip.decompress(file.read_bytes()), loader)["spec"]
        for version in spec["versions"]:
            key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            validators[key] = jsonschema.Draft202012Validator(closed(version["schema"]["openAPIV3Schema"]))
    return validators


def faults(validators, document):
    kind = document.get("kind")
    validator = validators.get((document.get("apiVersion"), SAME_SCHEMA.get(kind, kind)))
    if not validator:
        return [f"no schema for {document.get('apiVersion')} {kind}"]
    return [f"{error.json_path}: {error.message}"[:300] for error in validator.iter_errors(document)]


definitions = read_definitions()
json.dump([[fault for document in documents for fault in faults(definitions, document)] for documents in json.load(sys.stdin)],
          sys.stdout)
