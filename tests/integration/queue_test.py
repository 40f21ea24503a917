"""One queue for several people: what `clade serve` does with what they submit, also when it is killed."""

import collections
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

from live_runs import PATIENCE_S, RunTest, await_true

ENDS = (4, 5, 6)  # entry_state: succeeded, failed, cancelled
ENDED, STARTED = 4, 2  # kinds of event


class QueueTest(RunTest):
    def setUp(self):
        super().setUp()
        self.queue = self.folder / "queue"
        self.server = None

    def tearDown(self):
        if self.server and self.server.running:
            self.stop()
        super().tearDown()

    def serve(self, *words, slots="2"):
        self.server = self.start("serve", self.queue, "--slots", slots, *words)
        await_true(lambda: "serves" in self.server.out or not self.server.running, "it does not listen")
        self.assertTrue(self.server.running, self.server.said())

    def stop(self):
        self.server.terminate()
        self.assertEqual(self.server.end(), 0, self.server.said())

    def ask(self, *words, status=0, queue=None):
        command = self.start(*words, environment={"CLADE_QUEUE": str(queue or self.queue)})
        self.assertEqual(command.end(), status, command.said())
        return command

    def certificate(self, name):
        """A certificate of its own for this address, and its key."""
        files = [self.folder / f"{name}.{part}" for part in ("certificate", "key")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-out", files[0], "-keyout", files[1],
                        "-subj", "/CN=lab", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        return files

    def submit(self, *words):
        return int(self.ask("submit", *words).out)

    def describe(self, entry):
        return json.loads(self.ask("describe", entry, "--json").out)

    def running(self):
        listed = self.ask("get", "--json").out.splitlines()
        return sum(json.loads(line)["state"] == "running" for line in listed)

    def await_state(self, entry, state):
        return await_true(lambda: (found := self.describe(entry))["state"] == state and found,
                          f"entry {entry} is never {state}")

    def rest(self, method, path, token=None, body=None, kind="application/json"):
        """The status and the answer."""
        address = (self.queue / "address").read_text().strip()
        request = urllib.request.Request(address + path, method=method, data=None if body is None else json.dumps(body).encode())
        if body is not None:
            request.add_header("Content-Type", kind)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def token(self, user=None):
        folder = self.queue / "users" / user if user else self.queue
        return (folder / "token").read_text().strip()

    def add_user(self, name, role):
        self.finish("serve", self.queue, "--add-user", name, "--role", role)

    def assert_each_ended_once(self, entries):
        """In the store's events, whose first bytes say which entry ended and how."""
        store = sqlite3.connect(f"file:{self.queue}/queue.db?mode=ro", uri=True, timeout=PATIENCE_S)
        ended = [payload for payload, in store.execute("select payload from events where kind = ?", (ENDED,))]
        store.close()
        # [4, id, state, reason] with numbers below 128.
        final = sorted(payload[2] for payload in ended if payload[3] in ENDS)
        self.assertEqual(final, sorted(entries))


class Entries(QueueTest):
    def test_commands_run_after_each_other_and_their_logs_are_read(self):
        self.serve()
        first = self.submit("--name", "first", "--", "sh", "-c", "echo hello from $CLADE_SLOTS; pwd")
        second = self.submit("--after", first, "--slots", "2", "--", "sh", "-c", "echo then; exit 3")
        third = self.submit("--after", second, "--", "true")
        self.ask("wait", first)
        self.ask("wait", first, second, third, status=1)
        self.assertRegex(self.ask("logs", first).out, rf"hello from cpu:[01]\n{self.folder}\n")
        self.assertEqual(self.ask("logs", "-f", second).out, "then\n")
        self.assertEqual(self.describe(second)["reason"], "ended with status 3")
        held = self.describe(third)
        self.assertEqual((held["state"], held["reason"]), ("held", f"#{second} did not succeed"))
        listed = self.ask("get", "--all").out
        for word in ("succeeded", "failed", "held", "first"):
            self.assertIn(word, listed)
        self.ask("cancel", third)
        self.assert_each_ended_once([first, second, third])

    def test_what_users_of_kubectl_and_slurm_type_works(self):
        self.serve()
        script = self.folder / "train.sh"
        script.write_text("#!/bin/sh\n#SBATCH --job-name=trained -n 2\n#SBATCH --partition=gpu\necho $RANK of $WORLD_SIZE with $1\n")
        command = self.ask("sbatch", "train.sh", "3")
        self.assertEqual(command.err, "clade: not heeded: --partition=gpu\n")
        entry = int(command.out)
        self.ask("wait", f"job/{entry}")
        self.assertEqual(sorted(self.ask("logs", f"job/{entry}").out.splitlines()), ["0: 0 of 2 with 3", "1: 1 of 2 with 3"])
        self.assertIn("trained", self.ask("describe", "job", entry).out)
        self.assertRegex(self.ask("sacct").out, rf"\n{entry} +\S+ +succeeded")
        self.assertNotIn("succeeded", self.ask("squeue").out)
        sleeper = int(self.ask("sbatch", "--wrap", "sleep 1000").out)
        self.await_state(sleeper, "running")
        self.assertIn(str(sleeper), self.ask("get", "jobs").out)
        self.assertIn("cpu:0", self.ask("sinfo").out)
        self.ask("scancel", sleeper)
        self.ask("wait", sleeper, status=1)
        # A script of this directory needs no program before it.
        self.ask("wait", int(self.ask("submit", "--", "train.sh").out))

    def test_what_is_submitted_while_nobody_serves_waits_for_who_does(self):
        self.add_user("ann", "user")
        first = self.ask("submit", "--slots", "2", "--", "sh", "-c", "echo first")
        self.assertIn("nobody serves", first.err)
        second = self.ask("submit", "--after", first.out.strip(), "--", "sh", "-c", "echo second")
        self.assertEqual((first.out, second.out), ("1\n", "2\n"))
        # With nothing left it ends by itself.
        done = self.finish("serve", self.queue, "--slots", "2", "--idle", "0s")
        self.assertIn("serves", done.out)
        self.serve()
        self.assertEqual([self.describe(entry)["state"] for entry in (1, 2)], ["succeeded", "succeeded"])
        self.assertEqual(self.ask("logs", "2").out, "second\n")
        # A user's folder has no store.
        self.stop()
        self.assertIn("no server of the queue answers",
                      self.ask("submit", "--", "true", status=2, queue=self.queue / "users" / "ann").err)

    def test_ranks_are_started_together_and_their_logs_are_read_apart(self):
        self.serve()
        entry = self.submit("--ranks", "2", "--", "sh", "-c", 'echo "$RANK/$LOCAL_RANK of $WORLD_SIZE on $CLADE_SLOTS"; '
                            'echo "$MASTER_ADDR $MASTER_PORT" >&2')
        self.ask("wait", entry)
        first, second = (self.ask("logs", entry, "--rank", rank).out.splitlines() for rank in ("0", "1"))
        self.assertEqual((first[0], second[0]), ("0/0 of 2 on cpu:0", "1/1 of 2 on cpu:1"))
        self.assertEqual(first[1:], second[1:])
        self.assertRegex(first[1], r"^127\.0\.0\.1 \d+$")
        self.assertEqual(sorted(self.ask("logs", entry).out.splitlines()),
                         sorted([f"0: {line}" for line in first] + [f"1: {line}" for line in second]))
        described = self.describe(entry)
        self.assertEqual((described["ranks"], described["slots"]), (2, 2))
        self.assertIn("ranks 0 to 1", self.ask("logs", entry, "--rank", "2", status=2).err)
        alone = self.submit("--", "true")
        self.ask("wait", alone)
        self.assertIn("was not submitted with --ranks", self.ask("logs", alone, "--rank", "0", status=2).err)
        self.assertIn("3 slots cannot be shared out evenly to 2 ranks",
                      self.ask("submit", "--ranks", "2", "--slots", "3", "--", "true", status=2).err)

    def test_a_rank_that_fails_ends_the_others(self):
        self.serve()
        entry = self.submit("--ranks", "2", "--", "sh", "-c",
                            'if [ $RANK = 1 ]; then until [ -s sleeper ]; do sleep 0.05; done; exit 7; fi; '
                            'sleep 1000 & echo $! >sleeper; wait')
        self.ask("wait", entry, status=1)
        self.assertEqual(self.describe(entry)["reason"], "ended with status 7")
        sleeper = (self.folder / "sleeper").read_text().strip()
        self.assertFalse(pathlib.Path("/proc", sleeper).exists(), "what the other has started is still there")
        stubborn = self.submit("--ranks", "2", "--", "sh", "-c", "sleep 1000")
        self.await_state(stubborn, "running")
        follows = self.start("logs", "-f", stubborn, "--rank", "1", environment={"CLADE_QUEUE": str(self.queue)})
        self.ask("cancel", stubborn)
        self.ask("wait", stubborn, status=1)
        self.assertEqual(follows.end(), 0, follows.said())
        self.assertEqual(self.describe(stubborn)["state"], "cancelled")

    def test_of_a_log_without_end_the_beginning_and_the_end_are_kept(self):
        self.serve("--log-limit", "8MiB")
        entry = self.submit("--", "sh", "-c", "echo begins; seq -w 0 6000000; until [ -e go ]; do sleep 0.1; done; echo ends")
        log = self.queue / "entries" / str(entry) / "log"
        await_true(lambda: log.exists() and log.stat().st_size > 40 << 20 and log.stat().st_blocks * 512 <= 8 << 20,
                   "nothing of it is freed")
        (self.folder / "go").touch()
        self.ask("wait", entry)
        said = self.ask("logs", entry).out
        self.assertTrue(said.startswith("begins\n0000000\n") and said.endswith("6000000\nends\n"), said[:80])
        [left_out] = [line for line in said.splitlines() if line.startswith("clade: ")]
        self.assertRegex(left_out, r"^clade: \d+\.?\d* MiB are left out here: the log was longer than --log-limit$")
        self.assertLess(len(said), 9 << 20)
        self.assertIn("8MiB at least", self.finish("serve", self.folder / "other", "--log-limit", "1KiB", status=2).err)

    def test_what_runs_is_cancelled_with_all_that_it_started(self):
        self.serve()
        entry = self.submit("--", "sh", "-c", f"setsid sleep 1001 {self.folder} 2>/dev/null & sleep 1000")
        self.await_state(entry, "running")
        self.assertIn(str(entry), self.ask("top").out)
        waits = self.submit("--slots", "2", "--", "true")
        self.assertEqual(self.describe(waits)["reason"], "waits for 2 slots")
        self.ask("cancel", entry)
        self.ask("wait", waits)
        self.ask("wait", entry, status=1)
        self.assertIn("has been cancelled already", self.ask("cancel", entry, status=2).err)
        self.assertEqual(self.describe(entry)["state"], "cancelled")

    def test_a_run_makes_room_and_ends_as_if_it_had_not(self):
        experiment = self.write_experiment(duration="60ms")
        self.serve()
        run = self.submit(experiment, "--slots", "2", "--", "--seed", "11")
        found = await_true(lambda: self.describe(run)["run"], "no run was made")
        await_true(lambda: self.records_of(pathlib.Path(found, "run.db")) > 6, "nothing is recorded")
        urgent = self.submit("--priority", "5", "--slots", "2", "--", "true")
        self.ask("wait", urgent)
        self.ask("wait", run)
        self.assertEqual(self.describe(run)["starts"], 2)
        self.assertIn("resumes", self.ask("logs", run).out)
        disturbed = json.loads(self.finish("show", found, "--json").out)
        self.finish("run", experiment, "--slots", "2", "--seed", "11")
        self.assertEqual(disturbed["digest"], self.digest())

    def test_wrong_words_are_refused_in_a_sentence(self):
        self.assertIn("which queue?", self.finish("get", status=2).err)
        self.assertIn("is no queue's folder", self.ask("get", status=2).err)
        self.serve()
        for words, sentence in ((("submit", "--slots", "3", "--", "true"), "this server has 2"),
                                (("submit", "--after", "7", "--", "true"), "there is no #7"),
                                (("submit", "x.toml"), "x.toml: there is no such file"),
                                (("submit", self.write_experiment(), "--", "--runs", "here"), "the queue says that of a run"),
                                (("submit", "--", "true", "x" * 70_000), "and a queue takes 65536 at most"),
                                (("describe", "9"), "there is no #9"), (("wait", "9"), "there is no #9"),
                                (("logs", "9"), "there is no #9"), (("cancel", "9"), "there is no #9")):
            self.assertIn(sentence, self.ask(*words, status=2).err)
        self.assertIn("is served already", self.finish("serve", self.queue, status=2).err)
        self.stop()
        self.assertIn("no server of the queue answers", self.ask("get", status=2).err)


# Writes a file after the other and closes each, about 20 MB/s, and bears with a full disk unless it is to end there.
MANY_FILES = """
import itertools, pathlib, sys, time
for n in itertools.count():
    try:
        pathlib.Path(sys.argv[1], str(n)).write_bytes(bytes(1 << 18))
    except OSError:
        if "until-full" in sys.argv:
            raise
    time.sleep(0.012)
"""
# Writes as much, but each file in place of the one before, and bears with a full disk.
ONE_FILE = """
import contextlib, pathlib, sys, time
fresh = pathlib.Path(sys.argv[1], "fresh")
while True:
    with contextlib.suppress(OSError):
        fresh.write_bytes(bytes(1 << 18))
        fresh.rename(fresh.with_name("one"))
    time.sleep(0.012)
"""


class FillingDisk(QueueTest):
    """A disk of the queue's own, of memory or with a file system in a file."""

    def on_disks(self, test):
        for kind, make in (("tmpfs", ["mount", "-t", "tmpfs", "-o", "size=160m,mode=0700", "clade-test"]),
                           ("ext4", ["mount", "-o", "loop", self.folder / "image"])):
            self.queue = self.folder / f"queue-{kind}"
            self.queue.mkdir(mode=0o700)
            if kind == "ext4":
                with open(self.folder / "image", "wb") as image:
                    image.truncate(160 << 20)
                if subprocess.run(["mkfs.ext4", "-q", "-m", "0", self.folder / "image"], check=False).returncode != 0:
                    self.skipTest("there is no mkfs.ext4")
            if os.geteuid() != 0 or subprocess.run([*make, self.queue], capture_output=True, check=False).returncode != 0:
                self.skipTest("only who may mount a file system can have a small one")
            try:
                with self.subTest(kind):
                    self.serve()
                    test()
                    for entry in json.loads("[" + ",".join(self.ask("get", "--json").out.splitlines()) + "]"):
                        self.ask("cancel", entry["id"])
                    self.stop()
            finally:
                if self.server.running:
                    self.server.kill()
                self.assert_nothing_left()
                subprocess.run(["umount", self.queue], check=True)

    def files(self, name):
        folder = self.queue / name
        folder.mkdir()
        return folder

    def paused(self, entry):
        return (self.describe(entry).get("reason") or "").startswith("paused: ")

    def test_who_fills_it_by_many_files_is_paused_alone_and_goes_on(self):
        def test():
            innocent = self.submit("--", "python3", "-c", ONE_FILE, self.files("innocent"))
            await_true((self.queue / "innocent" / "one").exists, "it writes nothing")
            many = self.files("many")
            fills = self.submit("--", "python3", "-c", MANY_FILES, many)
            await_true(lambda: self.paused(fills), "who fills the disk is not paused")
            self.assertFalse(self.paused(innocent))
            await_true(lambda: f"#{fills} is paused" in self.server.err, "it is not said")
            for file in list(many.iterdir()):
                file.unlink()
            await_true(lambda: not self.paused(fills) and any(many.iterdir()), "it does not go on")

        self.on_disks(test)

    def test_who_fills_it_at_once_and_ends_is_named(self):
        def test():
            fills = self.submit("--", "sh", "-c", 'head -c 158m /dev/zero >"$(dirname "$CLADE_QUEUE")/junk"')
            await_true(lambda: f"#{fills} has ended and left " in self.server.err or self.paused(fills), "it is not named")
            # If a look fell within this moment it is paused, and its file open still.
            os.truncate(self.queue / "entries" / str(fills) / "junk", 0)
            # The server had no room to record something meanwhile, until it tries again.
            await_true(lambda: self.start("submit", "--", "true", environment={"CLADE_QUEUE": str(self.queue)}).end() == 0,
                       "nothing is taken any more")

        self.on_disks(test)

    def test_nobody_is_paused_for_what_another_writes(self):
        def test():
            innocent = self.submit("--", "python3", "-c", ONE_FILE, self.files("innocent"))
            await_true((self.queue / "innocent" / "one").exists, "it writes nothing")
            junk = self.files("junk")
            with subprocess.Popen(["python3", "-c", MANY_FILES, junk, "until-full"], stderr=subprocess.DEVNULL) as other:
                other.wait(PATIENCE_S)
            await_true(lambda: "Nobody is paused" in self.server.err, "it is not said")
            self.assertFalse(self.paused(innocent))
            self.assertNotRegex(self.server.err, r"#\d+ is paused")
            shutil.rmtree(junk)
            self.assertEqual(self.describe(innocent)["state"], "running")

        self.on_disks(test)


class Faults(QueueTest):
    def test_a_server_that_is_killed_loses_nothing(self):
        experiment = self.write_experiment(duration="60ms")
        counted = self.folder / "counted"
        self.serve(slots="4")
        run = self.submit(experiment, "--slots", "2")
        entries = [run]
        for number in range(12):
            entries.append(self.submit("--", "sh", "-c", f"sleep 0.5; echo {number} >>{counted}"))
        entries.append(self.submit("--after", entries[-1], "--", "true"))
        for _ in range(3):
            await_true(lambda: self.running() >= 2, "nothing runs")
            self.server.process.send_signal(signal.SIGKILL)
            self.assertEqual(self.server.process.wait(PATIENCE_S), -signal.SIGKILL)
            self.serve(slots="4")
        self.ask("wait", *entries)
        self.assert_each_ended_once(entries)
        self.assertEqual({int(line) for line in counted.read_text().split()}, set(range(12)))
        self.assertGreater(sum(self.describe(e)["losses"] for e in entries), 0)

    def test_a_server_that_is_told_to_end_drains_and_goes_on_later(self):
        experiment = self.write_experiment(duration="60ms")
        self.serve()
        run = self.submit(experiment)
        found = await_true(lambda: self.describe(run)["run"], "no run was made")
        await_true(lambda: self.records_of(pathlib.Path(found, "run.db")) > 4, "nothing is recorded")
        address = (self.queue / "address").read_text()
        self.stop()
        self.serve()
        self.assertEqual((self.queue / "address").read_text(), address)
        self.ask("wait", run)
        described = self.describe(run)
        self.assertEqual((described["starts"], described["losses"]), (2, 0))


class Access(QueueTest):
    def test_nobody_is_answered_without_a_token(self):
        self.serve()
        for method, path in (("GET", "/v1/entries"), ("POST", "/v1/entries"), ("GET", "/v1/entries/1"),
                             ("GET", "/v1/entries/1/log"), ("DELETE", "/v1/entries/1"), ("GET", "/v1/machine"),
                             ("GET", "/v1/user"), ("GET", "/v1/openapi.json"), ("PUT", "/v1/entries"), ("POST", "/"),
                             ("GET", "/nothing")):
            for token in (None, "x", self.token()[:-1]):
                status, answer = self.rest(method, path, token)
                self.assertEqual((status, list(answer)), (401, ["error"]), path)
        self.assertEqual(self.rest("GET", "/v1/entries", self.token())[0], 200)
        self.assertEqual(self.rest("GET", "/nothing", self.token())[0], 404)

    def test_one_who_is_known_may_come_as_often_as_they_like(self):
        self.serve()
        at, headers = urllib.parse.urlparse((self.queue / "address").read_text().strip()), {"Authorization": f"Bearer {self.token()}"}
        answers = collections.Counter()
        for requests in [1] * 2000 + [2000]:
            with contextlib.closing(http.client.HTTPConnection(at.hostname, at.port, timeout=PATIENCE_S)) as connection:
                for _ in range(requests):
                    connection.request("GET", "/v1/user", headers=headers)
                    with connection.getresponse() as answer:
                        answers[answer.status, answer.read()] += 1
        self.assertEqual(list(answers.values()), [4000], answers)

    def test_the_page_alone_is_answered_without_a_token(self):
        self.serve()
        self.submit("--name", "secret-name", "--", "sleep", "1000")
        with urllib.request.urlopen((self.queue / "address").read_text().strip() + "/", timeout=PATIENCE_S) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
            self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
            page = answer.read()
        if answer.headers["Content-Encoding"] == "gzip":
            page = gzip.decompress(page)
        self.assertIn(b"<title>", page)
        for word in (b"secret-name", self.token().encode(), str(self.queue).encode()):
            self.assertNotIn(word, page)

    def test_roles_may_do_what_they_may(self):
        self.serve()
        for name, role in (("ann", "user"), ("bob", "user"), ("eve", "viewer")):
            self.add_user(name, role)
        ann, bob, eve, admin = (self.token(user) for user in ("ann", "bob", "eve", None))
        task = {"entries": [{"command": ["sh", "-c", "echo secret"], "directory": "/"}] * 2}
        status, answer = self.rest("POST", "/v1/entries", ann, task)
        self.assertEqual((status, answer), (200, {"ids": [1, 2]}))
        self.ask("wait", 1, 2, queue=self.queue / "users" / "ann")
        self.assertEqual(self.rest("POST", "/v1/entries", eve, task)[0], 403)
        self.assertEqual(self.ask("logs", 1, queue=self.queue / "users" / "ann").out, "secret\n")
        self.assertEqual(self.ask("logs", 1).out, "secret\n")
        for token in (bob, eve):
            self.assertEqual(self.rest("GET", "/v1/entries/1/log", token)[0], 403)
            self.assertEqual(self.rest("DELETE", "/v1/entries/1", token)[0], 403)
            status, seen = self.rest("GET", "/v1/entries/1", token)
            self.assertEqual((status, seen["user"], seen["command"], seen.get("folder")), (200, "ann", None, None))
        self.assertEqual(self.rest("DELETE", "/v1/entries/1", admin)[0], 409)
        tokens = self.queue / "tokens"
        self.assertEqual(tokens.stat().st_mode & 0o777, 0o600)
        tokens.write_text("".join(line for line in tokens.read_text().splitlines(True) if " bob " not in line))
        self.assertEqual(self.rest("GET", "/v1/entries", bob)[0], 401)
        self.assertEqual(self.rest("GET", "/v1/entries", ann)[0], 200)

    def test_bad_requests_are_answered_in_sentences(self):
        self.serve()
        for body in ({}, {"entries": []}, {"entries": [{}]}, {"entries": [{"command": ["x"], "directory": "here"}]}):
            status, answer = self.rest("POST", "/v1/entries", self.token(), body)
            self.assertEqual((status, list(answer)), (400, ["error"]), body)
        task = {"entries": [{"command": ["true"], "directory": "/"}]}
        self.assertEqual(self.rest("POST", "/v1/entries", self.token(), task, kind="text/plain")[0], 415)
        large = {"entries": [{"command": ["true"] * 3_000_000, "directory": "/"}]}
        self.assertEqual(self.rest("POST", "/v1/entries", self.token(), large)[0], 413)
        for path in ("/v1/entries?ids=x", "/v1/entries?ids=1,", "/v1/entries?count=-1", "/v1/entries?wait=long"):
            self.assertEqual(self.rest("GET", path, self.token())[0], 400, path)

    def test_other_machines_come_with_tls_alone(self):
        refused = self.finish("serve", self.queue, "--listen", "0.0.0.0:0", status=2).err
        self.assertIn("not of this machine's loopback", refused)
        self.assertIn("are no certificate", self.finish("serve", self.queue, "--certificate", os.devnull,
                                                        "--key", os.devnull, status=2).err)


class Tls(QueueTest):
    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate with")
    def test_a_server_with_tls_is_known_by_its_certificate(self):
        certificate, key = self.certificate("right")
        self.serve("--certificate", certificate, "--key", key)
        self.assertTrue((self.queue / "address").read_text().startswith("https://127.0.0.1:"))
        entry = self.submit("--", "sh", "-c", "echo behind TLS; seq 300000")
        self.ask("wait", entry)
        self.assertEqual(len(self.ask("logs", entry).out.splitlines()), 300001)
        shutil.copy(self.certificate("wrong")[0], self.queue / "certificate")
        self.assertIn("no server of the queue answers", self.ask("get", status=2).err)


if __name__ == "__main__":
    unittest.main()
