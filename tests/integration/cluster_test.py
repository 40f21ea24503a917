"""The verbs of a queue for clusters that are there already (--to): a real SLURM, and a made-up kubectl that takes what the
published schemas of Kubernetes take."""

import json
import os
import subprocess
import unittest
import unittest.mock

from launch_kubernetes_test import FIRST_MINOR, VALIDATE, VENV
from live_runs import RunTest, await_true
from slurm_cluster import SlurmCluster


class ClusterTest(RunTest):
    to = None

    def submit(self, *words):
        return self.finish("submit", "--to", self.to, *words).out.strip()

    def describe(self, entry):
        return json.loads(self.finish("describe", "--to", self.to, entry, "--json").out)

    def listed(self, *words):
        return {e["id"]: e for e in map(json.loads, self.finish("get", "--to", self.to, "--json", *words).out.splitlines())}

    def await_state(self, entry, state):
        return await_true(lambda: (found := self.describe(entry))["state"] == state and found,
                          f"entry {entry} is never {state}")

    def assert_refused(self, sentence, *words):
        refused = self.finish(*words, status=2)
        self.assertEqual(refused.out, "")
        self.assertIn(sentence, refused.err.splitlines()[-1])


class Slurm(ClusterTest):
    to = "slurm"

    @classmethod
    def setUpClass(cls):
        cls.cluster = SlurmCluster()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def setUp(self):
        super().setUp()
        environment = unittest.mock.patch.dict(os.environ, self.cluster.environment)
        environment.start()
        self.addCleanup(environment.stop)
        self.addCleanup(self.cluster.await_quiet)

    def test_a_command_is_submitted_and_watched_and_read(self):
        go = self.folder / "go"
        entry = self.submit("--name", "it's \"one\"", "--time", "2min", "--", "sh", "-c",
                            f"echo hello from $(pwd); until [ -e {go} ]; do sleep 0.1; done; echo 'the  end'; exit 3")
        self.assertRegex(entry, r"^[0-9]+$")
        running = self.await_state(entry, "running")
        self.assertEqual((running["name"], running["slots"], running["directory"]), ("it's \"one\"", 1, str(self.folder)))
        self.assertEqual(self.listed()[entry]["state"], "running")
        self.assertRegex(self.finish("get", "--to", "slurm", entry).out, rf"\n{entry} +\S+ +running +0 +1 ")
        self.assertIn("TimeLimit=00:02:00", self.cluster.order("scontrol", "show", "job", entry))
        watching = self.start("get", "--to", "slurm", "-w", entry)
        follows = self.start("logs", "--to", "slurm", "-f", entry)
        # It waits for the file, which is there some time after SLURM says that the job runs.
        await_true(lambda: "hello" in follows.out and "running" in watching.out, "they see nothing")
        self.assertEqual(self.finish("logs", "--to", "slurm", entry).out, f"hello from {self.folder}\n")
        go.touch()
        self.assertEqual((follows.end(), follows.out), (0, f"hello from {self.folder}\nthe  end\n"))
        self.assertEqual(watching.end(), 0, watching.said())
        self.assertIn("failed", watching.out)
        failed = self.describe(entry)
        self.assertEqual((failed["state"], failed["reason"]), ("failed", "ended with status 3"))
        self.assertEqual(failed["log"], f"{self.folder}/slurm-{entry}.out")
        self.assertLessEqual(failed["submitted"], failed["started"])
        self.assertLessEqual(failed["started"], failed["ended"])
        self.assertNotIn(entry, self.listed())
        self.assertEqual(self.listed("--all")[entry]["state"], "failed")
        self.assertIn("reason     ended with status 3\n", self.finish("describe", "--to", "slurm", entry).out)

    def test_its_machines_are_shown_and_its_end_is_waited_for(self):
        entry = self.submit("--sbatch", "nodelist=n2", "--", "sleep", "1000")
        self.await_state(entry, "running")
        self.assertRegex(self.finish("pods", "--to", "slurm", entry).out, rf"\n{entry} +n2 +- +running")
        self.assertEqual(self.describe(entry)["on"], ["n2"])
        [pods] = map(json.loads, self.finish("pods", "--to", "slurm", entry, "--json").out.splitlines())
        self.assertEqual([p["machine"] for p in pods["processes"]], ["n2"])
        top = self.finish("top", "--to", "slurm").out
        self.assertRegex(top, r"USER +SLOTS +RUNNING +WAITING\n\S+ +1 +1 +0\n")
        self.assertRegex(top, r"\nn1 +idle +cpu +1 +0\n")
        self.assertRegex(top, r"\nn2 +(allocated|mixed) +cpu +1 +1\n")
        waiting = self.start("wait", "--to", "slurm", entry)
        good = self.submit("--", "true")
        self.finish("wait", "--to", "slurm", good)
        self.assertTrue(waiting.running)
        self.finish("cancel", "--to", "slurm", entry)
        self.assertEqual(waiting.end(), 1, waiting.said())
        self.assertIn("cancelled", waiting.out)

    def test_ranks_are_tasks_that_know_each_other(self):
        entry = self.submit("--ranks", "2", "--sbatch", "overcommit", "--", "sh", "-c",
                            'echo "$RANK of $WORLD_SIZE at $MASTER_ADDR:$MASTER_PORT"')
        self.assertEqual(self.await_state(entry, "succeeded")["state"], "succeeded")
        said = [self.finish("logs", "--to", "slurm", entry, "--rank", rank).out for rank in ("0", "1")]
        for rank, line in enumerate(said):
            self.assertRegex(line, rf"^{rank} of 2 at 127.0.0.1:2\d{{4}}\n$")
        self.assertEqual(sorted(self.finish("logs", "--to", "slurm", entry).out.splitlines(keepends=True)),
                         [f"{rank}: {line}" for rank, line in enumerate(said)])

    def test_entries_come_after_each_other_and_are_cancelled(self):
        first = self.submit("--sbatch", "exclusive", "--", "sleep", "1000")
        self.await_state(first, "running")
        second = self.submit("--after", first, "--", "true")
        self.assertEqual(self.describe(second)["state"], "waiting")
        self.assertEqual(self.describe(second)["reason"], "Dependency")
        self.finish("cancel", "--to", "slurm", first)
        self.await_state(first, "cancelled")
        self.assert_refused(f"job {first} is over already", "cancel", "--to", "slurm", first)
        self.await_state(second, "held")
        self.finish("cancel", "--to", "slurm", second)
        self.await_state(second, "cancelled")

    def test_what_others_named_does_nothing_to_the_terminal(self):
        named = self.cluster.order("sbatch", "--parsable", "--job-name", "\x1b[31mred", "--output", os.devnull,
                                   "--wrap", "sleep 1000").strip()
        out = self.finish("get", "--to", "slurm").out + self.finish("describe", "--to", "slurm", named).out
        self.assertNotIn("\x1b", out)
        self.assertEqual(out.count("[31mred"), 2, out)
        self.finish("cancel", "--to", "slurm", named)

    def test_a_run_is_a_job(self):
        experiment = self.write_experiment()
        entry = self.submit(experiment, "--", "--seed", "11")
        self.await_state(entry, "succeeded")
        self.assertEqual(self.show()["seed"], 11)
        digest = self.digest()
        self.run_folder().rename(self.folder / "of_slurm")
        self.finish("run", experiment, "--slots", "1", "--seed", "11")
        self.assertEqual(self.digest(), digest)

    def test_what_cannot_be_is_refused_in_a_sentence(self):
        self.assert_refused("SLURM knows no job 999", "describe", "--to", "slurm", "999")
        self.assert_refused("\"x\" is no number of a job", "cancel", "--to", "slurm", "x")
        self.assert_refused("sbatch did not take the job", "submit", "--to", "slurm", "--sbatch", "partition=none", "--", "true")
        self.assert_refused("slurm or kubernetes is meant", "get", "--to", "lsf")
        self.assert_refused("--namespace: SLURM has none", "get", "--to", "slurm", "--namespace", "x")
        self.assert_refused("--image is for a cluster", "submit", "--image", "x", "--", "true")
        dry = self.finish("submit", "--to", "slurm", "--dry-run", "--slots", "2", "--device", "cuda", "--", "true").out
        self.assertIn("\n#SBATCH --gres=gpu:2\n", dry)
        self.assertTrue(dry.startswith("#!/bin/sh\n") and dry.endswith("\nexec true\n"), dry)


# Stands for kubectl and the cluster behind it: Jobs are files of a folder, which the test has go on. A Job that is
# created must be as the published schemas say.
KUBECTL = """#!{python}
import datetime, json, pathlib, sys
import kubernetes_validate
folder = pathlib.Path(__file__).parent / "jobs"
words = [w for w in sys.argv[1:] if not w.startswith("--namespace=")]
(folder.parent / "called").open("a").write(json.dumps(sys.argv[1:]) + "\\n")
def job(name):
    file = folder / name
    if not file.exists():
        sys.exit(f'Error from server (NotFound): jobs.batch "{{name}}" not found')
    return json.loads(file.read_text())
if words == ["create", "--filename", "-", "--output", "name"]:
    made = json.load(sys.stdin)
    kubernetes_validate.validate(made, kubernetes_validate.latest_version(), strict=True)
    made["metadata"]["name"] = made["metadata"].pop("generateName") + "abc" + str(len(list(folder.iterdir())))
    made["metadata"]["creationTimestamp"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    (folder / made["metadata"]["name"]).write_text(json.dumps(made))
    print("job.batch/" + made["metadata"]["name"])
elif words[:3] == ["get", "jobs", "--selector"] and words[4:] == ["--output", "json"]:
    labels = dict(label.split("=") for label in words[3].split(","))
    all = [json.loads(file.read_text()) for file in sorted(folder.iterdir())]
    print(json.dumps({{"items": [j for j in all if labels.items() <= j["metadata"]["labels"].items()]}}))
elif words[:3] == ["get", "pods", "--selector"] and words[4:] == ["--output", "json"]:
    pod = {{"metadata": {{"name": job(words[3].removeprefix("job-name="))["metadata"]["name"] + "-x"}},
           "spec": {{"nodeName": "rome"}}, "status": {{"phase": "Running"}}}}
    print(json.dumps({{"items": [pod]}}))
elif words == ["get", "nodes", "--output", "json"]:
    if (folder.parent / "forbidden").exists():
        sys.exit('Error from server (Forbidden): nodes is forbidden: User "ann" cannot list resource "nodes"')
    print(json.dumps({{"items": [{{"metadata": {{"name": "rome"}}, "status": {{"allocatable": {{"cpu": "8"}},
                                  "conditions": [{{"type": "Ready", "status": "True"}}]}}}}]}}))
elif words[:2] == ["get", "job"] and words[3:] == ["--output", "json"]:
    print(json.dumps(job(words[2])))
elif words[0] == "logs" and words[2:] in ([], ["--follow"]):
    print("what", job(words[1].removeprefix("job/"))["metadata"]["name"], "wrote", *words[2:])
elif words[0:2] == ["delete", "job"] and words[3:] == ["--wait=false"]:
    job(words[2])
    (folder / words[2]).unlink()
    print("job.batch", words[2], "deleted")
else:
    sys.exit("unknown command: " + " ".join(words))
"""


class Kubernetes(ClusterTest):
    to = "kubernetes"

    def setUp(self):
        if not (VENV / "bin/kubernetes-validate").exists():
            self.skipTest("no kubernetes-validate: tools/test installs it into build/test_venv")
        super().setUp()
        self.bin = self.folder / "bin"
        (self.bin / "jobs").mkdir(parents=True)
        kubectl = self.bin / "kubectl"
        kubectl.write_text(KUBECTL.format(python=VENV / "bin/python3"))
        kubectl.chmod(0o755)
        environment = unittest.mock.patch.dict(os.environ, {"PATH": f"{self.bin}:{os.environ['PATH']}"})
        environment.start()
        self.addCleanup(environment.stop)

    def go_on(self, entry, **status):
        file = self.bin / "jobs" / entry
        file.write_text(json.dumps(json.loads(file.read_text()) | {"status": status}))

    def python(self, program, text, *words):
        return json.loads(subprocess.run([VENV / "bin/python3", "-c", program, *map(str, words)], input=text,
                                         stdout=subprocess.PIPE, text=True, check=True).stdout)

    def test_every_version_takes_its_jobs_and_none_takes_a_wrong_one(self):
        texts = [self.finish("submit", "--to", "kubernetes", "--image", "example.org/train:1", "--dry-run", *words).out
                 for words in (("--", "true"), ("--slots", "2", "--device", "cuda", "--time", "2h", "--name", "Ein \"Name\" ä",
                                                "--requeue", "--", "sh", "-c", "echo $HOME; a\nb"))]
        wrong = texts[1].replace('"backoffLimit"', '"backoff"')
        versions, *faults = self.python(VALIDATE, json.dumps([*texts, wrong]), FIRST_MINOR)
        self.assertGreater(len(versions), 5)
        self.assertEqual(faults[:2], [[], []])
        self.assertEqual([version for version, _ in faults[2]], versions)

    def test_a_job_is_submitted_and_watched_and_read_and_deleted(self):
        entry = self.submit("--image", "example.org/train:1", "--namespace", "lab", "--", "/bin/train", "--epochs", "3")
        self.assertEqual(entry, "clade-train-abc0")
        self.assertEqual(self.describe(entry)["state"], "waiting")
        self.go_on(entry, startTime="2026-01-31T14:05:01Z", active=1, ready=1)
        self.assertEqual(self.describe(entry)["state"], "running")
        self.assertEqual(list(self.listed()), [entry])
        self.assertEqual(self.finish("logs", "--to", "kubernetes", entry).out, f"what {entry} wrote\n")
        self.assertEqual(self.finish("logs", "--to", "kubernetes", "-f", entry).out, f"what {entry} wrote --follow\n")
        watching = self.start("get", "--to", "kubernetes", "-w", entry)
        await_true(lambda: "running" in watching.out, "it sees nothing")
        self.go_on(entry, startTime="2026-01-31T14:05:01Z", conditions=[
            {"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-31T14:06:01Z"}])
        self.assertEqual(watching.end(), 0, watching.said())
        self.assertIn("succeeded", watching.out)
        self.assertEqual(self.listed(), {})
        self.assertEqual(self.listed("--all")[entry]["ended"], 1769868361000)
        self.finish("cancel", "--to", "kubernetes", entry)
        self.assertEqual(self.listed("--all"), {})
        called = [json.loads(line) for line in (self.bin / "called").read_text().splitlines()]
        self.assertEqual(called[0][0], "--namespace=lab")
        self.assertEqual(called[1][:2], ["get", "job"])

    def test_its_pods_and_nodes_are_shown_and_its_end_is_waited_for(self):
        entry, other = (self.submit("--image", "example.org/train:1", "--slots", "2", "--", "train") for _ in range(2))
        self.go_on(entry, startTime="2026-01-31T14:05:01Z", active=1, ready=1)
        self.assertRegex(self.finish("pods", "--to", "kubernetes", entry).out, rf"\n{entry} +rome +{entry}-x +Running")
        top = self.finish("top", "--to", "kubernetes").out
        self.assertRegex(top, r"USER +SLOTS +RUNNING +WAITING\n\S+ +2 +1 +1\n")
        self.assertRegex(top, r"\nrome +ready +cpu +8 +-\n")
        (self.bin / "forbidden").touch()
        refused = self.finish("top", "--to", "kubernetes", status=2)
        self.assertIn("nodes is forbidden", refused.err)
        self.assertRegex(refused.out, r"\n\S+ +2 +1 +1\n")
        end = [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-31T14:06:01Z"}]
        self.go_on(entry, startTime="2026-01-31T14:05:01Z", conditions=end)
        self.finish("wait", "--to", "kubernetes", entry)
        self.go_on(other, startTime="2026-01-31T14:05:01Z", conditions=[end[0] | {"type": "Failed", "message": "no"}])
        self.assertIn("failed", self.finish("wait", "--to", "kubernetes", entry, other, status=1).out)
        self.assert_refused("--rank: a Job of Kubernetes", "logs", "--to", "kubernetes", entry, "--rank", "1")

    def test_what_cannot_be_is_refused_in_a_sentence(self):
        submit = ("submit", "--to", "kubernetes")
        self.assert_refused("--image: Kubernetes starts images", *submit, "--", "true")
        self.assert_refused("--after: a Job of Kubernetes waits for no other", *submit, "--image", "x", "--after", "1", "--", "true")
        self.assert_refused("--priority: ", *submit, "--image", "x", "--priority", "1", "--", "true")
        self.assert_refused("kubectl get ended with status 1", "describe", "--to", "kubernetes", "clade-none")
        self.assert_refused("\"--all\" is no name of a Job", "cancel", "--to", "kubernetes", "--", "--all")
        (self.bin / "kubectl").unlink()
        self.assert_refused("kubectl", "get", "--to", "kubernetes")


if __name__ == "__main__":
    unittest.main()
