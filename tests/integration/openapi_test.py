"""The answers of `clade serve` are what its OpenAPI document says: requests that schemathesis makes of the document,
right and wrong ones, against a queue's server."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from live_runs import PATIENCE_S
from queue_test import QueueTest

VENV = pathlib.Path(os.environ.get("CLADE_TEST_VENV", "/nonexistent"))
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "tools/queue/server/openapi.json"

# An entry that fits the document and cannot run here, as with more slots than there are, is refused too.
CONFIGURATION = """
headers = {{ Authorization = "Bearer {token}" }}
request-timeout = {patience}

[generation]
deterministic = true
database = "none"

[phases.fuzzing.generation]
max-examples = 15

[phases.stateful.generation]
max-examples = 6

# What is cancelled stays in the queue, and says that it was.
[checks]
use_after_free.enabled = false
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 411, 413, 414, 415]

[[operations]]
include-operation-id = "submitEntries"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400]

[[operations]]
include-tag = ["servers", "nodes"]
checks.positive_data_acceptance.expected-statuses = ["2xx", 403]
"""

# It knows of no msgpack: any bytes do.
HOOKS = """
import schemathesis
schemathesis.serializer.alias("application/msgpack", "application/octet-stream")
"""


class Conformance(QueueTest):
    def setUp(self):
        if not (VENV / "bin/schemathesis").exists():
            self.skipTest("no schemathesis: tools/test installs it into build/test_venv")
        super().setUp()
        self.serve()
        self.add_user("ann", "user")
        # All slots are taken by what ann may not cancel and her entries cannot displace: none of them ever starts.
        self.blocker = self.submit("--slots", "2", "--priority", "1000", "--", "sleep", "1000")
        self.await_state(self.blocker, "running")
        # She has one entry that runs no more, and one that can be looked at and cancelled.
        entries = {"entries": [{"command": ["true"], "directory": "/"}]}
        for _ in range(2):
            self.assertEqual(self.rest("POST", "/v1/entries", self.token("ann"), entries)[0], 200)

    def tearDown(self):
        # So that none of what was made up starts when the blocker ends.
        if self.server:
            self.server.kill()
        super().tearDown()

    def document(self):
        status, document = self.rest("GET", "/v1/openapi.json", self.token("ann"))
        self.assertEqual(status, 200)
        return document

    def assert_conforms(self, operations, *words):
        """The requests that schemathesis makes of the document for so many operations are answered as it says."""
        document = self.folder / "openapi.json"
        document.write_text(json.dumps(self.document()))
        configuration = self.folder / "schemathesis.toml"
        configuration.write_text(CONFIGURATION.format(token=self.token("ann"), patience=PATIENCE_S))
        (self.folder / "schemathesis_hooks.py").write_text(HOOKS)
        address = (self.queue / "address").read_text().strip()
        done = subprocess.run([VENV / "bin/python3", VENV / "bin/schemathesis", "--config-file", configuration, "run",
                               document, "--url", address, "--no-color", "--continue-on-failure", *words],
                              cwd=self.folder, env={**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(self.folder)},
                              capture_output=True, text=True, check=False, timeout=3 * PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, rf"Tested: +{operations}\n")

    def test_generated_submissions_are_answered_as_the_document_says(self):
        self.assert_conforms(1, "--include-operation-id", "submitEntries")

    def test_other_generated_requests_are_answered_as_the_document_says(self):
        paths = json.loads(SOURCE.read_text())["paths"].values()
        all_of_them = sum(method in path for path in paths for method in ("get", "post", "put", "delete"))
        self.assert_conforms(all_of_them - 6, "--exclude-operation-id", "submitEntries", "--exclude-operation-id-regex",
                             "^(getEvents|getTokens|addServer|reportNode|addLog)$")

    def test_requests_of_servers_and_machines_are_answered_as_the_document_says(self):
        """ann is neither: all of hers are refused, whatever they say."""
        self.assert_conforms(5, "--include-tag", "servers", "--include-tag", "nodes", "--exclude-operation-id", "getServer")

    def test_the_document_has_every_route_of_the_server(self):
        routes = set()
        for source in (SOURCE.parent).glob("*.cpp"):
            routes.update((method.lower(), re.sub(r"\(\\d\{1,18\}\)", "{id}", path)) for method, path in re.findall(
                r"""\bserver_?(?:->|\.)(Get|Post|Put|Delete|Patch)\(\s*R?"\(?(/v1/[^"]*?)\)?",""", source.read_text()))
        documented = {(method, path) for path, methods in json.loads(SOURCE.read_text())["paths"].items()
                      for method in methods if method != "parameters"}
        self.assertEqual(documented, routes)

    def test_the_document_is_the_one_of_the_sources_with_the_fields_of_a_submission(self):
        served, frame = self.document(), json.loads(SOURCE.read_text())
        filled = {}
        for name in ("Submission", "Entry", "EntryDetails"):
            filled[name], _ = served["components"]["schemas"].pop(name), frame["components"]["schemas"].pop(name)
        self.assertEqual(served, frame)
        self.assertNotIn('"@', json.dumps(filled))
        self.assertIn("priority", filled["Submission"]["properties"])
        self.assertEqual(self.rest("GET", "/v1/openapi.json")[0], 401)

    def test_what_a_path_does_not_have_is_named(self):
        status, answer = self.rest("PUT", "/v1/entries/1", self.token("ann"), {})
        self.assertEqual((status, answer), (405, {"error": "/v1/entries/1 has DELETE, GET and no PUT"}))
        self.assertEqual(self.rest("GET", "/v1/user", self.token("ann")), (200, {"user": "ann", "role": "user"}))


if __name__ == "__main__":
    unittest.main()
