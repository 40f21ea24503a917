"""`clade launch kubernetes` against Kubernetes' published schemas, and what its container does, done here."""

import json
import os
import pathlib
import stat
import subprocess
import unittest

from live_runs import RunTest, await_true

VENV = pathlib.Path(os.environ.get("CLADE_TEST_VENV", "/nonexistent"))

# From the first whose Jobs know podFailurePolicy by default to the newest that the schemas have.
FIRST_MINOR = 26

# These run in the tests' environment. The documents of standard input as JSON:
TO_JSON = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))"
# and what each version of Kubernetes has against each of the given texts, a JSON list of [version, what] for each.
VALIDATE = """
import json, sys, yaml
import kubernetes_validate as k8s

def faults(text, version):
    for document in yaml.safe_load_all(text):
        try:
            k8s.validate(document, version, strict=True)
        except k8s.ValidationError as error:
            yield version, error.message

newest = int(k8s.latest_version().split(".")[1])
versions = [f"1.{minor}" for minor in range(int(sys.argv[1]), newest + 1)]
print(json.dumps([versions, *([fault for v in versions for fault in faults(text, v)] for text in json.load(sys.stdin))]))
"""

RECORDER = """#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/said"
"""


class Manifest(RunTest):
    @classmethod
    def setUpClass(cls):
        if not (VENV / "bin/kubernetes-validate").exists():
            raise unittest.SkipTest("no kubernetes-validate: tools/test installs it into build/test_venv")

    def setUp(self):
        super().setUp()
        self.run_command, self.place = self.start_listening()

    def tearDown(self):
        self.run_command.kill()
        super().tearDown()

    def start_listening(self):
        run = self.start("run", self.write_experiment(), "--listen", "127.0.0.1:0", "--slots", "none")
        folder = self.run_folder()
        await_true(lambda: (folder / "address").exists() or not run.running, "the run does not listen")
        return run, folder

    def manifest(self, *words):
        return self.finish("launch", "kubernetes", "--run", self.place, "--image", "registry.example.org/clade:1", *words).out

    def python(self, program, text, *words):
        return json.loads(subprocess.run([VENV / "bin/python3", "-c", program, *map(str, words)], input=text,
                                         stdout=subprocess.PIPE, text=True, check=True).stdout)

    def test_every_version_takes_it_and_none_takes_a_wrong_one(self):
        plain = self.manifest()
        whole = self.manifest("--workers", "3", "--gpus", "2", "--cpus", "8", "--memory", "16Gi", "--namespace", "research")
        wrong = whole.replace("completionMode:", "completion:")
        versions, *faults = self.python(VALIDATE, json.dumps([plain, whole, wrong]), FIRST_MINOR)
        self.assertGreater(len(versions), 5)
        self.assertEqual(faults[:2], [[], []])
        self.assertEqual([version for version, _ in faults[2]], versions)
        for _, fault in faults[2]:
            self.assertIn("'completion' was unexpected", fault)

    def test_its_container_starts_a_worker_with_the_keys_of_the_run(self):
        program = "/opt/$(HOME)/$x \"clade\""
        secret, job = self.python(TO_JSON, self.manifest("--program", program, "--host", "203.0.113.7"))
        bundle = self.place / "keys" / "worker"
        self.assertEqual(secret["stringData"], {path.name: path.read_text() for path in bundle.glob("*.pem")})
        pod = job["spec"]["template"]["spec"]
        [container] = pod["containers"]
        # Kubernetes takes $$ for $, and would replace $(HOME).
        command = [word.replace("$$", "$") for word in container["command"]]
        self.assertEqual([word.replace("$$", "").count("$(") for word in container["command"]], [0] * len(command))
        self.assertEqual(command[4], program)
        mounted = self.folder / "clade"
        (mounted / "keys").mkdir(parents=True)
        (mounted / "secret").mkdir()
        for name, text in secret["stringData"].items():
            (mounted / "secret" / name).write_text(text)
            # What fsGroup makes of defaultMode 0400.
            (mounted / "secret" / name).chmod(0o440)
        recorder = mounted / "recorder"
        recorder.write_text(RECORDER)
        recorder.chmod(0o755)
        command[2] = command[2].replace("/run/clade", str(mounted))
        command[4] = str(recorder)
        subprocess.run(command, env={"PATH": os.environ["PATH"], "JOB_COMPLETION_INDEX": "2"}, check=True)
        port = (self.place / "address").read_text().strip().rpartition(":")[2]
        self.assertEqual((mounted / "said").read_text().splitlines(), [
            "worker", "--connect", f"203.0.113.7:{port}", "--keys", str(mounted / "keys"), "--slots", "cpu:1", "--name",
            f"clade-{self.place.name}-2"])
        for name in secret["stringData"]:
            copy = mounted / "keys" / name
            self.assertEqual(copy.read_text(), secret["stringData"][name])
            self.assertEqual(stat.S_IMODE(copy.stat().st_mode) & 0o077, 0, "nobody else reads it")

    def test_what_kubernetes_would_refuse_is_refused_with_nothing_printed(self):
        done = self.finish("launch", "kubernetes", "--run", self.place, "--image", "a b", status=2)
        self.assertEqual(done.out, "")
        self.assertEqual(len(done.err.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
