"""experiments/queue.yaml against the published schemas of Kubernetes, and what its container does, done here."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from daemons import free_ports
from launch_kubernetes_test import FIRST_MINOR, TO_JSON, VALIDATE, VENV
from live_runs import CLADE, await_true
from queue_test import QueueTest

MANIFEST = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "queue.yaml"


@unittest.skipUnless((VENV / "bin/kubernetes-validate").exists(),
                     "no kubernetes-validate: tools/test installs it into build/test_venv")
@unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate with")
class Manifest(QueueTest):
    def python(self, program, text, *words):
        return json.loads(subprocess.run([VENV / "bin/python3", "-c", program, *map(str, words)], input=text,
                                         stdout=subprocess.PIPE, text=True, check=True).stdout)

    def test_every_version_takes_it_and_none_takes_a_wrong_one(self):
        text = MANIFEST.read_text()
        wrong = [text.replace(word, "wrong:", 1) for word in ("serviceName:", "volumeClaimTemplates:", "clusterIP:", "livenessProbe:")]
        versions, *faults = self.python(VALIDATE, json.dumps([text, *wrong]), FIRST_MINOR)
        self.assertGreater(len(versions), 5)
        self.assertEqual(faults[0], [])
        for against in faults[1:]:
            self.assertEqual({version for version, _ in against}, set(versions))

    def test_its_names_fit_each_other(self):
        service, stateful = self.python(TO_JSON, MANIFEST.read_text())
        spec = stateful["spec"]
        pod = spec["template"]
        [container] = pod["spec"]["containers"]
        self.assertEqual(spec["serviceName"], service["metadata"]["name"])
        self.assertEqual(spec["selector"]["matchLabels"], pod["metadata"]["labels"])
        self.assertEqual(service["spec"]["selector"], pod["metadata"]["labels"])
        self.assertEqual({m["name"] for m in container["volumeMounts"]},
                         {v["name"] for v in pod["spec"]["volumes"]} | {v["metadata"]["name"] for v in spec["volumeClaimTemplates"]})
        self.assertEqual(service["spec"]["ports"][0]["port"], container["ports"][0]["containerPort"])
        self.assertEqual(spec["replicas"], 1)

    def container_command(self, container, port):
        """The container's command with its folders and its name in ours."""
        script = container["command"][2]
        for theirs, ours in (("/queue", str(self.queue)), ("/secret", str(self.folder / "secret")), ("0.0.0.0:4711", f"0.0.0.0:{port}"),
                             ("$HOSTNAME.clade-queue:4711", f"localhost:{port}"), ("clade serve", f"{CLADE} serve"),
                             ("--slots auto", "--slots 2")):
            self.assertIn(theirs, script)
            script = script.replace(theirs, ours)
        return [*container["command"][:2], script]

    def start_container(self, command):
        said = self.folder / "said"
        with said.open("w") as out:
            container = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd="/",
                                         env={"PATH": os.environ["PATH"], "HOME": str(self.queue)}, start_new_session=True)
        self.addCleanup(container.wait)
        self.addCleanup(container.kill)
        await_true(lambda: "serves" in said.read_text() or container.poll() is not None, "it does not listen")
        self.assertIsNone(container.poll(), said.read_text())
        return container

    def test_its_container_serves_whom_the_secret_names_and_goes_on_when_it_is_killed(self):
        _, stateful = self.python(TO_JSON, MANIFEST.read_text())
        [container] = stateful["spec"]["template"]["spec"]["containers"]
        secret = self.folder / "secret"
        secret.mkdir()
        self.queue.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-out", secret / "tls.crt", "-keyout",
                        secret / "tls.key", "-subj", "/CN=queue", "-addext", "subjectAltName=DNS:localhost"],
                       check=True, capture_output=True)
        made = self.folder / "made"
        self.finish("serve", made, "--add-user", "ann", "--role", "admin")
        shutil.copy(made / "tokens", secret / "tokens")
        command = self.container_command(container, *free_ports(1))
        pod = self.start_container(command)
        ann = made / "users" / "ann"
        for name in ("address", "certificate"):
            shutil.copy(self.queue / name, ann / name)
        self.assertTrue((ann / "address").read_text().startswith("https://localhost:"))
        first = int(self.ask("submit", "--", "sleep", "1000", queue=ann).out)
        self.ask("wait", int(self.ask("submit", "--", "true", queue=ann).out), queue=ann)
        # The probe is what the kubelet runs.
        probe = [word.replace("/queue", str(self.queue)) for word in container["livenessProbe"]["exec"]["command"]]
        self.assertEqual(probe[0], "clade")
        self.finish(*probe[1:])
        self.add_user("bob", "user")
        pod.kill()
        pod.wait()
        self.assertNotEqual(subprocess.run([CLADE, *probe[1:]], capture_output=True, check=False).returncode, 0)
        pod = self.start_container(command)
        self.assertIn(" bob ", (self.queue / "tokens").read_text())
        self.ask("cancel", first, queue=ann)
        self.ask("wait", first, status=1, queue=ann)
        pod.terminate()
        self.assertEqual(pod.wait(), 0)


if __name__ == "__main__":
    unittest.main()
