"""Several servers of one queue: another one that waits and takes over, and a replica that follows."""

import json
import pathlib
import shutil
import signal
import sqlite3
import unittest
import urllib.error
import urllib.request

from live_runs import CLADE, PATIENCE_S, await_true
from queue_nodes_test import NodesTest
from queue_test import QueueTest


class SeveralServers(QueueTest):
    def another(self, *words, said, folder=None):
        """A server beside the first that has said so."""
        server = self.start("serve", folder or self.queue, "--slots", "2", *words)
        await_true(lambda: said in server.out or not server.running, f"it never says: {said}")
        self.assertTrue(server.running, server.said())
        return server

    def await_serving(self, server):
        await_true(lambda: " slots; users say" in server.out or not server.running, "it does not take over")
        self.assertTrue(server.running, server.said())

    def end(self, server, status=0):
        server.terminate()
        self.assertEqual(server.end(), status, server.said())

    def kill_first(self):
        self.server.process.send_signal(signal.SIGKILL)
        self.assertEqual(self.server.process.wait(PATIENCE_S), -signal.SIGKILL)

    def addresses(self, folder=None):
        return (pathlib.Path(folder or self.queue) / "address").read_text().split()

    def unserved(self, address, token=None):
        """Returns the answer of a server that does not serve."""
        request = urllib.request.Request(address + "/v1/entries")
        request.add_header("Authorization", f"Bearer {token or self.token()}")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE_S)
        self.assertEqual(refused.exception.code, 503)
        return json.load(refused.exception)

    def count_events(self, folder):
        store = sqlite3.connect(f"file:{folder}/queue.db?mode=ro", uri=True, timeout=PATIENCE_S)
        count = store.execute("select count(*) from events").fetchone()[0]
        store.close()
        return count


class Standby(SeveralServers):
    def standby(self, *words):
        return self.another("--standby", *words, said="waits on")

    def test_the_next_takes_over_when_the_first_is_killed(self):
        self.serve()
        second = self.standby()
        first_address, second_address = self.addresses()
        self.assertEqual(self.unserved(second_address),
                         {"error": f"process {self.server.pid} serves; this one waits", "role": "waits"})
        go, counted = self.folder / "go", self.folder / "counted"
        entries = [self.submit("--", "sh", "-c", f"test -e {go} || exec sleep 1000; echo went on")]
        for number in range(6):
            entries.append(self.submit("--after", entries[0], "--slots", "1", "--", "sh", "-c", f"echo {number} >>{counted}"))
        self.await_state(entries[0], "running")
        environment = {"CLADE_QUEUE": str(self.queue)}
        waits = self.start("wait", *entries, environment=environment)
        reads = self.start("logs", "-f", entries[0], environment=environment)
        go.write_text("")
        self.kill_first()
        self.await_serving(second)
        self.assertEqual(self.addresses(), [second_address, first_address])
        self.assertEqual((waits.end(), reads.end()), (0, 0), waits.said() + reads.said())
        self.assertEqual(reads.out, "went on\n")
        self.assert_each_ended_once(entries)
        self.assertEqual(self.describe(entries[0])["losses"], 1)
        self.assertEqual(sorted(counted.read_text().split()), [str(n) for n in range(6)])
        # The first comes back where it was, and serves when the second is told to end.
        third = self.standby()
        self.assertIn(f"waits on {first_address}", third.out)
        self.end(second)
        self.await_serving(third)
        self.ask("wait", self.submit("--", "true"))
        self.end(third)

    def test_one_that_was_stopped_for_too_long_writes_nothing_more(self):
        self.serve()
        second = self.standby()
        go = self.folder / "go"
        runs = self.submit("--", "sh", "-c", f"test -e {go} || exec sleep 1000")
        self.await_state(runs, "running")
        self.server.process.send_signal(signal.SIGSTOP)
        self.await_serving(second)
        # The entries of the first still run, so nobody else gets its slot or begins it again.
        others = [self.submit("--", "true") for _ in range(3)]
        self.ask("wait", *others)
        described = self.describe(runs)
        self.assertEqual((described["state"], described["starts"]), ("running", 1))
        go.write_text("")
        self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.server.end(), 1, self.server.said())
        self.assertIn("has taken this queue over", self.server.err)
        self.assertEqual(len(self.server.err.splitlines()), 1)
        self.ask("wait", runs)
        described = self.describe(runs)
        self.assertEqual((described["starts"], described["losses"]), (2, 1))
        self.assert_each_ended_once([runs, *others])
        self.end(second)
        # The next one checks every event.
        self.serve()

    def test_a_file_system_of_several_machines_gets_a_journal(self):
        self.serve("--shared")
        second = self.standby("--shared")
        entry = self.submit("--", "true")
        self.ask("wait", entry)
        self.assertFalse((self.queue / "queue.db-wal").exists())
        # Others need not be told: the file says it.
        third = self.standby()
        self.kill_first()
        await_true(lambda: any("users say" in server.out for server in (second, third)), "nobody takes over")
        if "users say" not in second.out:
            second, third = third, second
        self.ask("wait", self.submit("--", "true"))
        self.assertFalse((self.queue / "queue.db-wal").exists())
        self.end(second)
        self.await_serving(third)
        self.end(third)

    def test_a_journal_is_not_forced_on_a_server_that_has_none(self):
        self.serve()
        refused = self.finish("serve", self.queue, "--standby", "--shared", status=2).err
        self.assertIn("give --shared to all", refused)


class StandbyNodes(NodesTest, SeveralServers):
    def test_a_machine_and_what_runs_there_find_a_server_that_came_after_them(self):
        self.serve_nodes()
        self.join("rome", slots=2)  # With a copy of a folder that names the first alone.
        second = self.another("--standby", said="waits on")
        second_address = self.addresses()[1]
        await_true(lambda: second_address in self.addresses(self.folder / "worker-rome"), "it does not learn of the second")
        go = self.folder / "go"
        waited = self.submit("--", "sh", "-c", f"until [ -e {go} ]; do sleep 0.05; done")
        flow = self.submit("--", CLADE, "wait", waited)
        for entry in (waited, flow):
            self.await_state(entry, "running")
        token = (self.queue / "entries" / str(flow) / "queue" / "token").read_text().strip()
        self.assertEqual(self.unserved(second_address, token), {"error": "this server waits", "role": "waits"})
        self.kill_first()
        self.await_serving(second)
        go.touch()
        self.ask("wait", flow, waited)
        self.assertEqual([self.describe(entry)["starts"] for entry in (flow, waited)], [1, 1])
        self.end(second)

    def test_waiting_begins_before_there_is_a_server(self):
        self.serve()
        entry = self.submit("--", "true")
        self.ask("wait", entry)
        self.stop()
        waits = self.start("wait", entry, environment={"CLADE_QUEUE": str(self.queue)})
        await_true(lambda: "no server of the queue answers" in waits.err or not waits.running, "it does not say that it waits")
        self.assertTrue(waits.running, waits.said())
        self.serve()
        self.assertEqual(waits.end(), 0, waits.said())


class Replica(SeveralServers):
    def setUp(self):
        super().setUp()
        self.replica = self.folder / "replica"

    def follow(self, *words):
        return self.another("--follow", self.queue, *words, folder=self.replica, said="follows")

    def await_all(self):
        await_true(lambda: self.count_events(self.replica) == self.count_events(self.queue), "the replica has less")

    def test_it_has_all_and_serves_when_a_person_says_so(self):
        self.serve()
        self.add_user("ann", "user")
        before = self.submit("--", "sh", "-c", "echo before")
        self.ask("wait", before)
        replica = self.follow()
        go = self.folder / "go"
        runs = self.submit("--slots", "2", "--", "sh", "-c", f"test -e {go} || exec sleep 1000; echo again")
        waiting = [self.submit("--", "true") for _ in range(3)]
        self.await_state(runs, "running")
        self.await_all()
        first, second = self.addresses()
        self.assertEqual(self.addresses(self.queue / "users" / "ann"), [first, second])
        answer = self.unserved(second)
        self.assertEqual((answer["role"], answer["of"], answer["behind"]), ("follows", first, 0))
        for name in ("tokens", "token"):
            copied = self.replica / name
            self.assertEqual(copied.read_text(), (self.queue / name).read_text())
            self.assertEqual(copied.stat().st_mode & 0o777, 0o600)
        waits = self.start("wait", before, runs, *waiting, environment={"CLADE_QUEUE": str(self.queue)})
        go.write_text("")
        self.kill_first()
        await_true(lambda: "no server of the queue answers" in replica.out, "it does not notice")
        self.end(replica)
        self.server = self.another(folder=self.replica, said=" slots; users say")
        self.assertIn(second, self.server.out)
        # Clients that knew both find it.
        self.assertEqual(waits.end(), 0, waits.said())
        self.assertEqual(self.ask("logs", runs).out, "again\n")
        refused = self.finish("serve", self.queue, status=2).err
        self.assertIn(f"{second} serves this queue already, from another folder", refused)
        self.queue = self.replica
        self.assertEqual(self.describe(runs)["losses"], 1)
        self.assert_each_ended_once([before, runs, *waiting])

    def test_it_takes_over_by_itself_where_it_was_told_to(self):
        self.serve()
        replica = self.follow("--take-over", "2s")
        entry = self.submit("--slots", "2", "--", "sleep", "0.5")
        self.await_all()
        self.kill_first()
        self.await_serving(replica)
        self.ask("wait", entry)
        self.server = replica

    def test_what_is_no_replica_of_the_queue_is_refused(self):
        self.serve()
        self.add_user("ann", "user")
        refused = self.finish("serve", self.replica, "--follow", self.queue / "users" / "ann", status=2).err
        self.assertIn("ann is no admin", refused)
        refused = self.finish("serve", self.replica, "--follow", self.folder, status=2).err
        self.assertIn("is no queue's folder", refused)
        self.ask("wait", self.submit("--", "true"))
        replica = self.follow()
        self.await_all()
        self.end(replica)
        self.stop()
        refused = self.finish("serve", self.replica, "--follow", self.queue, status=2).err
        self.assertIn(f"to serve what the replica has: clade serve {self.replica}", refused)
        # Another queue, with events of its own.
        shutil.rmtree(self.queue)
        self.serve()
        self.ask("wait", self.submit("--", "true"))
        refused = self.finish("serve", self.replica, "--follow", self.queue, status=2).err
        self.assertIn("they differ in event", refused)


if __name__ == "__main__":
    unittest.main()
