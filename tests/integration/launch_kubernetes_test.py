"""`clade launch kubernetes` against the published schemas of Kubernetes and Kubeflow, and what its container does, done
here."""

import contextlib
import copy
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import unittest

from live_runs import CLADE, PATIENCE_S, RunTest, await_true

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

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "tools" / "guide.md"
SCHEMAS = pathlib.Path(__file__).resolve().parent / "kubeflow_schemas.py"

# The name that the controller of a kind looks for in its pods: the container's name.
KUBEFLOW = {"pytorchjob": "pytorch", "tfjob": "tensorflow", "trainjob": "node"}
WHOLE = ("--workers", "3", "--gpus", "2", "--cpus", "8", "--memory", "16Gi", "--namespace", "research")

# The maps whose keys are anybody's.
MAPS = {"labels", "requests", "limits", "pytorchReplicaSpecs", "tfReplicaSpecs"}

# Stands for clade. Told to leave, it takes its time and then exits with 0, as a worker that drains. It says that it is
# there when both it and the shell above it hear SIGTERM.
RECORDER = """#!/bin/sh
if [ -n "${RUNS_ON:-}" ]; then
  trap 'sleep 0.2; : >"$(dirname "$0")/drained"; exit 0' TERM
  until grep -q '^SigCgt:.*[4-7c-f]...$' "/proc/$PPID/status"; do sleep 0.01; done
fi
printf '%s\\n' "$@" >"$(dirname "$0")/said"
while [ -n "${RUNS_ON:-}" ]; do sleep 0.05; done
exit "${ENDS_WITH:-0}"
"""

NOBODY = 65534


def end_session(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def mutants(document, path=("spec",)):
    """The document, for each field of its specification with that renamed, and for each value with one of another type."""
    def changed(change):
        mutant = copy.deepcopy(document)
        inside = mutant
        for step in path[:-1]:
            inside = inside[step]
        change(inside, path[-1])
        return mutant

    def replace(inside, key):
        inside[key] = {"wrong": []}

    def rename(inside, key):
        inside[key + "_"] = inside.pop(key)

    value = document
    for step in path:
        value = value[step]
    if len(path) > 1 and isinstance(path[-1], str) and path[-2] not in MAPS:
        yield changed(rename)
    if not isinstance(value, dict | list) or not value:
        yield changed(replace)
    elif isinstance(value, dict):
        for key in value:
            yield from mutants(document, (*path, key))
    else:
        for index in range(len(value)):
            yield from mutants(document, (*path, index))


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

    def documents(self, *words):
        return self.python(TO_JSON, self.manifest(*words))

    def faults(self, lists_of_documents):
        return json.loads(subprocess.run([VENV / "bin/python3", SCHEMAS], input=json.dumps(lists_of_documents),
                                         stdout=subprocess.PIPE, text=True, check=True).stdout)

    def test_kubeflow_takes_its_objects_and_none_with_a_changed_field(self):
        secret, _ = self.documents()
        for kind in KUBEFLOW:
            plain_secret, *plain = self.documents("--as", kind)
            whole_secret, *whole = self.documents("--as", kind, *WHOLE, *(("--servers", "2") if kind == "tfjob" else ()))
            self.assertEqual(plain_secret, secret)
            self.assertEqual(whole_secret, secret | {"metadata": secret["metadata"] | {"namespace": "research"}})
            wrong = [mutant for document in whole for mutant in mutants(document)]
            self.assertGreater(len(wrong), 60)
            faults = self.faults([plain, whole, *([mutant] for mutant in wrong)])
            self.assertEqual(faults[:2], [[], []], kind)
            taken = [mutant for mutant, against in zip(wrong, faults[2:], strict=True) if not against]
            self.assertEqual(taken, [], kind)
        self.assertEqual(self.faults([[{"apiVersion": "kubeflow.org/v2", "kind": "TFJob"}]]),
                         [["no schema for kubeflow.org/v2 TFJob"]])

    def pods(self, kind, *words):
        """The object, and its pods' templates by role."""
        _, first, *rest = self.documents("--as", kind, *words)
        spec = first["spec"]
        if kind == "job":
            return first, {"": spec["template"]}
        if kind == "trainjob":
            [job] = spec["template"]["spec"]["replicatedJobs"]
            self.assertEqual(job["template"]["metadata"]["labels"], {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"})
            [train_job] = rest
            self.assertEqual(train_job["spec"]["runtimeRef"], {
                "apiGroup": "trainer.kubeflow.org", "kind": first["kind"], "name": first["metadata"]["name"]})
            return train_job, {"": job["template"]["spec"]["template"]}
        self.assertEqual(rest, [])
        roles = spec["pytorchReplicaSpecs" if kind == "pytorchjob" else "tfReplicaSpecs"]
        return first, {role: replicas["template"] for role, replicas in roles.items()}

    def test_every_pod_of_kubeflows_is_the_worker_that_one_of_a_job_is(self):
        _, pods = self.pods("job", *WHOLE)
        expected = pods[""]["spec"]
        for kind, container in KUBEFLOW.items():
            _, pods = self.pods(kind, *WHOLE, *(("--servers", "2") if kind == "tfjob" else ()))
            for role, template in pods.items():
                pod = copy.deepcopy(expected)
                [worker] = pod["containers"]
                [found] = template["spec"]["containers"]
                worker["name"] = container
                worker["command"][2] = found["command"][2]
                if kind != "trainjob": # These have no index, and the policy of their role.
                    worker["env"].append({"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})
                    del pod["restartPolicy"]
                self.assertEqual(template["spec"], pod, (kind, role))

    def test_the_first_worker_is_the_master_and_ends_the_job(self):
        def replicas(specs):
            for spec in specs.values():
                self.assertEqual(spec["restartPolicy"], "OnFailure")
            return {role: spec["replicas"] for role, spec in specs.items()}

        job, _ = self.pods("pytorchjob")
        self.assertEqual(replicas(job["spec"]["pytorchReplicaSpecs"]), {"Master": 1})
        job, _ = self.pods("pytorchjob", "--workers", "3")
        self.assertEqual(replicas(job["spec"]["pytorchReplicaSpecs"]), {"Master": 1, "Worker": 2})
        self.assertEqual(job["spec"]["runPolicy"], {"cleanPodPolicy": "Running", "backoffLimit": 18})
        job, _ = self.pods("tfjob", "--workers", "3", "--servers", "2")
        self.assertEqual(replicas(job["spec"]["tfReplicaSpecs"]), {"Chief": 1, "Worker": 2, "PS": 2})
        self.assertEqual(job["spec"]["runPolicy"], {"cleanPodPolicy": "Running", "backoffLimit": 30})
        job, _ = self.pods("trainjob", "--workers", "3")
        self.assertEqual(job["spec"]["trainer"], {"numNodes": 3})

    def mount(self, secret, container, name="clade", program=None):
        """A folder with what the pod mounts, and the container's command in it. It is of nobody's, with the recorder for
        clade, unless there is a program."""
        mounted = self.folder / name
        (mounted / "keys").mkdir(parents=True)
        (mounted / "secret").mkdir()
        for name, text in secret["stringData"].items():
            (mounted / "secret" / name).write_text(text)
            # The mode is the one that fsGroup makes of defaultMode 0400.
            (mounted / "secret" / name).chmod(0o440)
        recorder = mounted / "recorder"
        recorder.write_text(RECORDER)
        recorder.chmod(0o755)
        # Kubernetes takes $$ for $, and would replace $(HOME).
        command = [word.replace("$$", "$") for word in container["command"]]
        self.assertEqual([word.replace("$$", "").count("$(") for word in container["command"]], [0] * len(command))
        command[2] = command[2].replace("/run/clade", str(mounted))
        command[4] = program or str(recorder)
        if os.geteuid() == 0 and not program:
            self.folder.chmod(0o755)
            for path in (mounted, *mounted.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        return mounted, command

    def start_container(self, command, **environment):
        nobody = os.geteuid() == 0 and command[4] != CLADE
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if nobody else {}
        container = subprocess.Popen(command, env={"PATH": os.environ["PATH"], **environment}, start_new_session=True, **user)
        self.addCleanup(end_session, container)
        return container

    def run_container(self, command, **environment):
        return self.start_container(command, **environment).wait(timeout=60)

    def said(self, mounted, name):
        """Checks what the worker is told, where it has its name and the port is the run's."""
        port = (self.place / "address").read_text().strip().rpartition(":")[2]
        self.assertEqual((mounted / "said").read_text().splitlines(), [
            "worker", "--connect", f"203.0.113.7:{port}", "--keys", str(mounted / "keys"), "--slots", "cpu:1", "--name", name])

    def test_its_container_starts_a_worker_with_the_keys_of_the_run(self):
        program = "/opt/$(HOME)/$x \"clade\""
        secret, job = self.documents("--program", program, "--host", "203.0.113.7")
        bundle = self.place / "keys" / "worker"
        self.assertEqual(secret["stringData"], {path.name: path.read_text() for path in bundle.glob("*.pem")})
        [container] = job["spec"]["template"]["spec"]["containers"]
        self.assertEqual(container["command"][4].replace("$$", "$"), program)
        mounted, command = self.mount(secret, container)
        self.assertEqual(self.run_container(command, JOB_COMPLETION_INDEX="2"), 0)
        self.said(mounted, f"clade-{self.place.name}-2")
        for name in secret["stringData"]:
            copied = mounted / "keys" / name
            self.assertEqual(copied.read_text(), secret["stringData"][name])
            self.assertEqual(stat.S_IMODE(copied.stat().st_mode) & 0o077, 0, "nobody else reads it")

    def test_a_container_is_complete_at_the_end_of_the_run_only(self):
        secret, _ = self.documents()
        for kind in ("job", *KUBEFLOW):
            _, pods = self.pods(kind, "--host", "203.0.113.7")
            [container] = next(iter(pods.values()))["spec"]["containers"]
            mounted, command = self.mount(secret, container)
            indexed = kind in ("job", "trainjob")
            name = f"clade-{self.place.name}-2" if indexed else "clade-toy-master-0"
            named = {"JOB_COMPLETION_INDEX": "2"} if indexed else {"POD_NAME": name}
            for status in (0, 2, 137):
                self.assertEqual(self.run_container(command, ENDS_WITH=str(status), **named), status)
                self.said(mounted, name)
                (mounted / "said").unlink()
                if indexed: # The container is not restarted, but in a new pod.
                    for key in (mounted / "keys").iterdir():
                        key.unlink()
            drained = self.start_container(command, RUNS_ON="1", **named)
            await_true((mounted / "said").exists, "the worker does not start")
            drained.send_signal(signal.SIGTERM)
            self.assertEqual(drained.wait(timeout=60), 128 + signal.SIGTERM)
            self.assertTrue((mounted / "drained").exists(), "it waits for the worker")
            mounted.rename(self.folder / kind)

    def test_the_pods_of_every_role_train_and_are_complete_when_the_run_is_over(self):
        secret, _ = self.documents()
        _, pods = self.pods("tfjob", "--host", "127.0.0.1", "--workers", "2", "--servers", "1")
        self.assertEqual(list(pods), ["Chief", "Worker", "PS"])
        containers = {}
        for role, template in pods.items():
            [container] = template["spec"]["containers"]
            name = f"clade-toy-{role.lower()}-0"
            _, command = self.mount(secret, container, name, CLADE)
            containers[name] = self.start_container(command, POD_NAME=name)
        for name, container in containers.items():
            self.assertEqual(container.wait(timeout=PATIENCE_S), 0, name)
        self.assertEqual(self.run_command.end(), 0, self.run_command.err)
        self.assertEqual({slot for [slot] in self.query("select slot from nodes")}, {f"{name}/cpu:0" for name in containers})

    def test_the_commands_beside_kubectls_in_the_guide_are_there(self):
        table = GUIDE.read_text().partition("| kubectl | here |\n")[2].partition("\n\n")[0]
        commands = [command.partition("\\|")[0].split() for command in re.findall(r"`clade ([^`]+)`", table)]
        self.assertGreaterEqual(len(commands), 5)
        for verb, *words in commands:
            of_verb = [verb, "kubernetes"] if verb == "launch" else [verb]
            text = self.finish(*of_verb, "--help").out
            for option in [word for word in words if word.startswith("--")]:
                self.assertIn(f"  {option} ", text, verb)

    def test_what_kubernetes_would_refuse_is_refused_with_nothing_printed(self):
        for words, said in ((("--image", "a b"), '--image "a b"'),
                            (("--as", "deployment"), '--as "deployment": job, pytorchjob, tfjob or trainjob is meant'),
                            (("--servers", "1"), "--servers: only a tfjob has them"),
                            (("--as", "trainjob", "--servers", "1"), "--servers: only a tfjob has them"),
                            (("--as", "tfjob", "--workers", "0"), "--workers: from 1 to ")):
            words = words if "--image" in words else ("--image", "a", *words)
            done = self.finish("launch", "kubernetes", "--run", self.place, *words, status=2)
            self.assertEqual(done.out, "")
            self.assertIn(said, done.err)
            self.assertEqual(len(done.err.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
