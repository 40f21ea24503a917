"""A queue whose entries run on other machines: `clade worker --queue`, beside the server of `clade serve`."""

import contextlib
import os
import pathlib
import shutil
import signal
import unittest

import queue_test
from live_runs import CLADE, await_true, processes_of

# The entries that one generation of the flow submits: a training and an evaluation of each network, and the next
# generation.
GENERATE = """
set -e
ends=
for n in 1 2 3; do
  echo "{{\\"units\\": $((n * $1))}}" >{folder}/config-$1-$n
  t=$({clade} submit --once "train $1 $n" --name train -- sh -c "sleep 0.2; cp {folder}/config-$1-$n {folder}/model-$1-$n")
  e=$({clade} submit --once "evaluate $1 $n" --name evaluate --after $t -- sh -c "wc -c <{folder}/model-$1-$n >{folder}/fitness-$1-$n")
  ends=$ends,$e
done
if [ $1 -lt {generations} ]; then
  {clade} submit --once "generate $(($1 + 1))" --name generate --after ${{ends#,}} -- sh {folder}/generate $(($1 + 1))
fi
"""


def count_half_closed(pid):
    """How many TCP connections of a process its peer has ended, and it has not."""
    ended = set()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "08":  # CLOSE_WAIT
            ended.add(f"socket:[{words[9]}]")
    count = 0
    for file in pathlib.Path("/proc", str(pid), "fd").iterdir():
        with contextlib.suppress(OSError):
            count += os.readlink(file) in ended
    return count


class NodesTest(queue_test.QueueTest):
    def setUp(self):
        super().setUp()
        self.nodes = {}

    def tearDown(self):
        for node in self.nodes.values():
            if node.running:
                node.kill()
        super().tearDown()

    def serve_nodes(self, *names, lease="60s", tls=()):
        self.serve("--lease", lease, *tls, slots="none")
        if not (self.queue / "users" / "lab").exists():
            self.add_user("lab", "worker")
        for name in names:
            self.join(name)

    def join(self, name, slots=1):
        given = self.folder / f"worker-{name}"
        if not given.exists():
            shutil.copytree(self.queue / "users" / "lab", given)
        node = self.nodes[name] = self.start("worker", "--queue", given, "--name", name, "--slots", slots)
        await_true(lambda: "runs what is in the queue" in node.out or not node.running, f"{name} does not join")
        self.assertTrue(node.running, node.said())

    def kill_server(self):
        self.server.process.send_signal(signal.SIGKILL)
        self.assertEqual(self.server.process.wait(), -signal.SIGKILL)

    def where(self, entry):
        return self.describe(entry)["on"][0].partition("@")[2]


class Nodes(NodesTest):
    def test_entries_run_on_other_machines_and_their_logs_are_read(self):
        self.serve_nodes("rome", "bonn")
        go = self.folder / "go"  # Until then the first has a machine for itself, and the second the other one.
        entries = [self.submit("--", "sh", "-c", f"until [ -e {go} ]; do sleep 0.05; done; echo on $CLADE_SLOTS; seq 200000") for _ in range(4)]
        for e in entries[:2]:
            self.await_state(e, "running")
        go.touch()
        self.ask("wait", *entries)
        self.assertEqual({self.where(e) for e in entries}, {"rome", "bonn"})
        for e in entries:
            said = self.ask("logs", e).out.splitlines()
            self.assertEqual((said[0], said[-1], len(said)), ("on cpu:0", "200000", 200001))
        failing = self.submit("--", "sh", "-c", "exit 7")
        self.ask("wait", failing, status=1)
        self.assertEqual(self.describe(failing)["reason"], "ended with status 7")
        nowhere = self.submit("--", "no-such-program-at-all")
        self.ask("wait", nowhere, status=1)
        self.assertIn("no-such-program-at-all", self.describe(nowhere)["reason"])
        self.assert_each_ended_once([*entries, failing, nowhere])

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate with")
    def test_a_machine_works_over_tls_for_longer_than_any_of_its_connections(self):
        certificate, key = self.certificate("right")
        self.serve_nodes("rome", tls=("--certificate", certificate, "--key", key))
        rome = self.nodes["rome"]
        for turn in range(3):
            go = self.folder / f"go-{turn}"
            os.mkfifo(go)
            entry = self.submit("--", "sh", "-c", f"echo begun; cat {go}; grep SigIgn /proc/self/status")
            self.await_state(entry, "running")
            # The thread that tells of ends has nothing to tell, and the server ends that connection.
            await_true(lambda: count_half_closed(rome.pid) > 0 or not rome.running, "no connection is ever ended")
            go.write_text("")
            self.ask("wait", entry)
            # No signal is ignored there that the worker ignores.
            self.assertEqual(self.ask("logs", entry).out, "begun\nSigIgn:\t0000000000000000\n")
        self.assertTrue(rome.running, rome.said())

    def test_a_machine_that_has_nothing_to_run_leaves_by_itself(self):
        self.serve_nodes("rome")
        first = self.submit("--", "true")
        given = self.folder / "worker-rome"
        bonn = self.start("worker", "--queue", given, "--folder", self.folder / "bonn", "--name", "bonn", "--slots", "1", "--idle", "200ms")
        self.assertEqual(bonn.end(), 0, bonn.said())
        self.assertIn("bonn runs what is in the queue", bonn.out)
        self.ask("wait", first)
        self.assertNotIn("bonn", self.ask("top").out)

    def test_top_and_doctor_say_how_machines_are(self):
        self.serve_nodes("rome")
        self.assertRegex(self.ask("top").out, r"\nrome +there +1 +\S+ \S+ ago +\d")
        found = self.finish("doctor", "--queue", self.queue, "--slots", "1").out
        self.assertRegex(found, r"queue +good +http://\S+ answers")
        self.assertRegex(found, r"machine rome +good +1 slot, heard")
        self.await_state(self.submit("--", "sleep", "1000"), "running")
        self.nodes["rome"].kill()
        self.kill_server()
        self.serve_nodes(lease="1s")  # It waits for rome, which is known to have something.
        await_true(lambda: "lost" in self.ask("top").out, "rome is never lost")
        found = self.finish("doctor", "--queue", self.queue, "--slots", "1", status=1).out
        self.assertRegex(found, r"slots +broken +the queue has none")
        self.assertRegex(found, r"machine rome +broken +lost, not heard of for \S+ \S+\n +-> what ran there")
        self.stop()
        self.assertRegex(self.finish("doctor", "--queue", self.queue, "--slots", "1", status=1).out, r"queue +broken +no server")

    def test_logs_without_end_and_of_ranks_are_read_from_there(self):
        self.serve("--log-limit", "8MiB", slots="none")
        self.add_user("lab", "worker")
        self.join("rome", slots=2)
        long, ranks = self.submit("--", "seq", "-w", "0", "6000000"), self.submit("--ranks", "2", "--", "sh", "-c", "echo I am $RANK")
        self.ask("wait", long, ranks)
        said = self.ask("logs", long).out
        self.assertTrue(said.startswith("0000000\n") and said.endswith("6000000\n"), said[:80])
        self.assertEqual(sum("are left out here" in line for line in said.splitlines()), 1)
        self.assertLessEqual((self.queue / "entries" / str(long) / "log").stat().st_blocks * 512, 8 << 20)
        self.assertEqual(self.ask("logs", ranks, "--rank", "1").out, "I am 1\n")

    def test_processes_are_shown_and_cancelled_where_they_are(self):
        self.serve_nodes("rome")
        entry = self.submit("--", "sh", "-c", f"sleep 1001 & sleep 1000")
        shown = await_true(lambda: (out := self.ask("pods", entry).out).count("sleep 100") == 4 and out, "no processes")
        self.assertIn("rome", shown)
        self.assertIn("cpu:0@rome", self.ask("top").out)
        self.ask("cancel", entry)
        self.ask("wait", entry, status=1)
        self.assertEqual(self.ask("pods", entry).out.splitlines()[1:], [])
        self.ask("wait", self.submit("--", "true"))

    def test_a_machine_that_leaves_hands_back_what_it_has(self):
        experiment = self.write_experiment(duration="60ms")
        self.serve_nodes("rome")
        run = self.submit(experiment, "--", "--seed", "11")
        folder = await_true(lambda: self.describe(run)["folder"], "nobody knows where it is").removeprefix("rome:")
        await_true(lambda: any(self.records_of(f) > 6 for f in pathlib.Path(folder).glob("runs/*/run.db")), "nothing is recorded")
        self.nodes["rome"].terminate()
        self.assertEqual(self.nodes["rome"].end(), 0, self.nodes["rome"].said())
        described = self.describe(run)
        self.assertEqual((described["state"], described["losses"]), ("preempted", 0))
        self.join("rome")
        self.ask("wait", run)
        self.assertIn("resumes", self.ask("logs", run).out)

    def test_who_is_no_worker_runs_nothing(self):
        self.serve()
        self.add_user("ann", "user")
        refused = self.finish("worker", "--queue", self.queue / "users" / "ann", "--slots", "1", status=2).err
        self.assertIn("is no worker", refused)
        self.add_user("lab", "worker")
        self.assertEqual(self.rest("POST", "/v1/entries", self.token("lab"),
                                   {"entries": [{"command": ["true"], "directory": "/"}]})[0], 403)
        self.assertEqual(self.rest("POST", "/v1/nodes", self.token("lab"), {"node": "rome"})[0], 400)
        self.assertIn("needs --connect", self.finish("worker", status=2).err)


class NodeFaults(NodesTest):
    def test_what_runs_goes_on_while_the_server_is_away(self):
        self.serve_nodes("rome", "bonn")
        gate = self.folder / "gate"
        entries = [self.submit("--", "sh", "-c", f"echo before; until [ -e {gate} ]; do sleep 0.02; done; echo after")
                   for _ in range(2)]
        for e in entries:
            self.await_state(e, "running")
        await_true(lambda: all(self.ask("logs", e).out for e in entries), "nothing is logged")
        self.kill_server()
        gate.touch()  # They end while nobody can be told.
        self.serve_nodes()
        self.ask("wait", *entries)
        for e in entries:
            described = self.describe(e)
            self.assertEqual((described["starts"], described["losses"]), (1, 0))
            self.assertEqual(self.ask("logs", e).out, "before\nafter\n")
        self.assert_each_ended_once(entries)

    def test_machines_find_the_next_server_and_what_they_run_goes_on(self):
        self.serve("--lease", "60s", slots="none")
        self.add_user("lab", "worker")
        second = self.start("serve", self.queue, "--standby", "--slots", "none")
        await_true(lambda: "waits on" in second.out or not second.running, "it does not wait")
        self.join("rome")
        gate = self.folder / "gate"
        entry = self.submit("--", "sh", "-c", f"echo before; until [ -e {gate} ]; do sleep 0.02; done; echo after")
        self.await_state(entry, "running")
        self.kill_server()
        await_true(lambda: "users say" in second.out or not second.running, "it does not take over")
        self.server = second
        gate.touch()
        self.ask("wait", entry)
        described = self.describe(entry)
        self.assertEqual((described["starts"], described["losses"]), (1, 0))
        self.assertEqual(self.ask("logs", entry).out, "before\nafter\n")
        self.assert_each_ended_once([entry])

    def test_what_a_dead_machine_had_runs_elsewhere(self):
        self.serve_nodes("rome", lease="2s")
        entry = self.submit("--", "sh", "-c", f"[ -e {self.folder}/once ] || {{ touch {self.folder}/once; sleep 1000; }}")
        await_true((self.folder / "once").exists, "it does not begin")
        self.nodes["rome"].kill()
        self.join("bonn")
        self.ask("wait", entry)
        described = self.describe(entry)
        self.assertEqual((described["losses"], self.where(entry)), (1, "bonn"))
        self.assert_each_ended_once([entry])

    def test_a_machine_that_was_away_ends_what_is_no_longer_its(self):
        self.serve_nodes("rome", lease="2s")
        entry = self.submit("--", "sh", "-c", f"sleep 1001; : {self.folder}")
        self.await_state(entry, "running")
        self.nodes["rome"].process.send_signal(signal.SIGSTOP)
        self.await_state(entry, "preempted")
        self.ask("cancel", entry)
        self.nodes["rome"].process.send_signal(signal.SIGCONT)
        self.ask("wait", self.submit("--", "true"))
        self.assertEqual(self.left_by_entries(), [])

    def submitted(self):
        return len(self.ask("get", "--all", "--json").out.splitlines())

    def left_by_entries(self):
        return [p for p in processes_of(self.folder) if "sleep 1001" in p.words[-1]]

    def test_a_flow_survives_the_death_of_any_machine(self):
        generations = 3
        (self.folder / "generate").write_text(GENERATE.format(clade=CLADE, folder=self.folder, generations=generations))
        self.serve_nodes("rome", "bonn", "oslo", lease="2s")
        first = self.submit("--name", "generate", "--once", "generate 1", "--", "sh", self.folder / "generate", "1")
        for generation, victim in enumerate(("rome", "server", "bonn"), start=1):
            await_true(lambda g=generation: list(self.folder.glob(f"model-{g}-*")), f"generation {generation} trains nothing")
            if victim == "server":
                self.kill_server()
                self.serve_nodes(lease="2s")
            else:
                self.nodes[victim].kill()
                self.join(victim)
        everything = range(first, first + 7 * generations)  # A generator, three trainings, three evaluations each.
        await_true(lambda: self.submitted() == len(everything), "the flow does not come to its last generation")
        self.ask("wait", *everything)
        self.assertEqual(len(list(self.folder.glob("fitness-*"))), 3 * generations)
        self.assertEqual(self.submitted(), len(everything))
        self.assert_each_ended_once(everything)


if __name__ == "__main__":
    unittest.main()
