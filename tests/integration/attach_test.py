"""Watching a run changes nothing, and shows what its store has: viewers that follow, stop, die, or send garbage, on this
machine and from others."""

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import unittest

from hosts import Network
from live_runs import PATIENCE_S, RunTest, await_true, ports_of_a_publisher

PYTHON = pathlib.Path(os.environ.get("CLADE_TEST_VENV", "/nonexistent"), "bin", "python3")
# The memory that a head may take more after viewers were there.
MOST_GROWTH = 32 << 20
CANDIDATES = 72


def memory_of(command):
    """Resident bytes."""
    status = pathlib.Path("/proc", str(command.pid), "status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))


class Zmtp:
    """A peer that says by hand what libzmq would, so that anything else can be said after it (ZeroMQ's RFC 23)."""

    def __init__(self, connection, kind):
        self.connection = connection
        self.connection.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32))
        ready = b"\x05READY" + b"\x0bSocket-Type" + len(kind).to_bytes(4, "big") + kind
        self.connection.sendall(b"\x04" + bytes([len(ready)]) + ready)

    def send(self, part, more=False):
        self.connection.sendall(bytes([2 + more]) + len(part).to_bytes(8, "big") + part)


class AttachTest(RunTest):
    def start_run(self, *words, duration="40ms", **changes):
        self.file = self.write_experiment(population=CANDIDATES // 3, generations=3, duration=duration)
        run = self.start("run", self.file, "--slots", "2", *words, **changes)
        self.await_evaluations(4, run)
        self.live = self.run_folder() / "live"
        return run

    def attach(self, *words, **changes):
        """Once it has shown something."""
        viewer = self.start("attach", *(words or (self.run_folder(),)), "--json", **changes)
        await_true(lambda: not viewer.running or '"event":"picture"' in viewer.out, "no picture")
        return viewer

    def assert_shows(self, viewer):
        """It has each record once that came after its first picture, and its last picture is the store's."""
        self.assertEqual(viewer.end(), 0, viewer.said())
        lines = [json.loads(line) for line in viewer.out.splitlines()]
        first, last = lines[0], lines[-1]
        self.assertEqual((first["event"], last["event"]), ("picture", "picture"))
        self.assertEqual((first["showing"], last["showing"]), ("live", "finished"))
        numbers = [line["sequence"] for line in lines if "sequence" in line and line["event"] != "picture"]
        shown = self.show()
        self.assertEqual(numbers, list(range(first["sequence"] + 1, shown["records"] + 1)))
        self.assertGreater(len(numbers), 10)
        self.assertEqual((last["digest"], last["evaluated"]), (shown["digest"], CANDIDATES))

    def assert_last_picture(self, viewer):
        """Checks that the last of what it showed is the store's."""
        self.assertEqual(viewer.end(), 0, viewer.said())
        last = json.loads(viewer.out.splitlines()[-1])
        self.assertEqual((last["showing"], last["digest"]), ("finished", self.digest()))

    def python_watch(self):
        if not PYTHON.exists():
            self.skipTest("no pyzmq: tools/test installs it into build/test_venv")
        script = pathlib.Path(__file__).with_name("watch.py")
        watching = subprocess.Popen([PYTHON, script, self.live], stdout=subprocess.PIPE, text=True)
        self.addCleanup(watching.wait)
        return watching


class Following(AttachTest):
    def test_it_has_every_record_and_the_stores_digest(self):
        run = self.start_run()
        viewers = [self.attach() for _ in range(3)]
        self.assertEqual(run.end(), 0, run.said())
        for viewer in viewers:
            self.assert_shows(viewer)
        self.assert_undisturbed(self.file)

    def test_the_example_in_python_has_the_stores_numbers(self):
        run = self.start_run()
        watching = self.python_watch()
        said, _ = watching.communicate(timeout=PATIENCE_S)
        self.assertEqual(watching.returncode, 0)
        self.assertEqual(run.end(), 0, run.said())
        shown = self.show()
        evaluated, best = said.split("\n")[-2].split()
        self.assertEqual((int(evaluated), float(best)), (shown["evaluated"], shown["best_fitness"]))


class Stored(AttachTest):
    def assert_picture(self, showing):
        viewer = self.finish("attach", self.run_folder(), "--json")
        picture, = map(json.loads, viewer.out.splitlines())
        shown = self.show()
        self.assertEqual((picture["event"], picture["showing"]), ("picture", showing))
        self.assertEqual((picture["digest"], picture["evaluated"]), (shown["digest"], shown["evaluated"]))

    def test_a_finished_run_is_shown_from_its_store(self):
        self.assertEqual(self.start_run().end(), 0)
        self.assert_picture("finished")

    def test_a_killed_run_is_shown_from_its_store(self):
        self.start_run().kill()
        self.assert_nothing_left()
        self.assert_picture("stopped")


class Nuisances(AttachTest):
    def assert_small(self, run, before):
        self.assertLess(memory_of(run), before + MOST_GROWTH)

    def test_viewers_that_stop_or_die_change_nothing(self):
        run = self.start_run()
        before = memory_of(run)
        stopped, dead, healthy = (self.attach() for _ in range(3))
        os.kill(stopped.pid, signal.SIGSTOP)
        dead.kill()
        self.await_evaluations(60, run)
        self.assert_small(run, before)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_shows(healthy)
        os.kill(stopped.pid, signal.SIGCONT)
        self.assert_shows(stopped)
        self.assert_undisturbed(self.file)

    def connect(self, name):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE_S)
        connection.connect(str(self.live / name))
        return connection

    def test_garbage_changes_nothing(self):
        run = self.start_run()
        before = memory_of(run)
        noise = random.Random(1)
        for name, kind in (("events", b"SUB"), ("requests", b"DEALER"), ("control", b"REQ")):
            for size in (1, 64, 4096, 1 << 20):
                with self.connect(name) as raw, self.connect(name) as after_greeting, self.connect(name) as spoken:
                    with contextlib.suppress(ConnectionError):
                        raw.sendall(noise.randbytes(size))
                    with contextlib.suppress(ConnectionError):
                        Zmtp(after_greeting, kind).connection.sendall(noise.randbytes(size))
                    with contextlib.suppress(ConnectionError):
                        peer = Zmtp(spoken, kind)
                        for more in (False, True, False):
                            peer.send(noise.randbytes(size), more)
        self.assert_small(run, before)
        viewer = self.attach()
        self.assertEqual(run.end(), 0, run.said())
        self.assert_last_picture(viewer)
        self.assert_undisturbed(self.file)


class RemoteTest(AttachTest):
    def setUp(self):
        super().setUp()
        self.authority = self.folder / "keys"
        self.finish("keys", "new", self.authority)

    def make_viewer(self, name, *words, authority=None):
        self.finish("keys", "viewer", authority or self.authority, name, *words)
        return (authority or self.authority) / name

    def start_published(self, **changes):
        self.address = f"127.0.0.1:{ports_of_a_publisher()}"
        return self.start_run("--publish", self.address, "--keys", self.authority, **changes)

    def refuse(self, *words, sentence):
        refused = self.finish(*words, status=2)
        self.assertEqual(refused.out, "")
        self.assertRegex(refused.err, rf"^clade: [^\n]*{sentence}[^\n]*\n$")


class Remote(RemoteTest):
    def test_a_viewer_with_the_right_key_has_every_record(self):
        before = self.make_viewer("before")
        run = self.start_published()
        after = self.make_viewer("after")  # It needs no new start of the run.
        viewers = [self.attach(f"tcp://{self.address}", "--keys", keys) for keys in (before, after)] + [self.attach()]
        self.assertEqual(run.end(), 0, run.said())
        for viewer in viewers:
            self.assert_shows(viewer)
        self.assert_undisturbed(self.file)

    def test_others_are_refused_and_noted(self):
        run = self.start_published(duration="400ms")
        other = self.folder / "other"
        self.finish("keys", "new", other)
        watch = ("attach", f"tcp://{self.address}", "--json", "--keys")
        self.refuse(*watch, self.make_viewer("eve", authority=other), sentence="these are not keys of that run's authority")
        gone = self.make_viewer("gone")
        (self.authority / "authority" / "viewers" / "gone").unlink()
        self.refuse(*watch, gone, sentence="the run refuses this key")
        self.await_log("refused a viewer from 127.0.0.1: its key is none of those that", run)
        bob, ann = self.make_viewer("bob"), self.make_viewer("ann", "--control")
        tell = ("control", "stop-after", f"tcp://{self.address}", "--keys")
        self.refuse(*tell, bob, sentence="the run refuses this key: its authority made none with this right")
        self.finish(*tell, ann)
        self.assertEqual(run.end(), 0, run.said())
        told = [row for row in self.query("select payload from records where kind = 11") if b"ann" in row[0]]
        self.assertEqual(len(told), 1, "the order is recorded with the viewer's name")

    def test_garbage_at_the_ports_changes_nothing(self):
        keys = self.make_viewer("ann")
        run = self.start_published()
        before = memory_of(run)
        noise, (host, port) = random.Random(2), self.address.split(":")
        for offset in range(3):
            for size in (1, 4096, 1 << 20):
                for greet in (False, True):
                    with socket.create_connection((host, int(port) + offset)) as stranger:
                        with contextlib.suppress(ConnectionError):
                            if greet:
                                Zmtp(stranger, b"DEALER")
                            stranger.sendall(noise.randbytes(size))
        self.assertLess(memory_of(run), before + MOST_GROWTH)
        viewer = self.attach(f"tcp://{self.address}", "--keys", keys)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_last_picture(viewer)
        self.assert_undisturbed(self.file)


class RefusedRemote(RemoteTest):
    def test_nobody_answers(self):
        keys = self.make_viewer("ann")
        address = f"tcp://127.0.0.1:{ports_of_a_publisher()}"
        self.refuse("attach", address, "--json", "--keys", keys,
                    sentence=f"{re.escape(address)}: nobody answers there")

    def test_bundles_that_are_none(self):
        keys = self.make_viewer("ann")
        watch = ("attach", "tcp://127.0.0.1:1", "--json", "--keys", keys)
        file = keys / "viewer.key"
        good = file.read_text()
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        file.chmod(0o640)
        self.refuse(*watch, sentence="viewer.key may be read by others: chmod 600")
        file.chmod(0o600)
        for garbage in ("", "no", good.replace(good[3], "\\"), good + good):
            file.write_text(garbage)
            if garbage != good + good:  # Only its first line counts.
                self.refuse(*watch, sentence="viewer.key holds no keys of a viewer")
        file.unlink()
        self.refuse(*watch, sentence="viewer.key is missing or not readable")
        self.refuse("attach", "tcp://127.0.0.1:1", "--json", sentence="--keys is missing")
        self.refuse("attach", "tcp://nowhere", "--keys", keys, sentence="is no address")

    def test_names_and_authorities(self):
        self.make_viewer("ann")
        self.refuse("keys", "viewer", self.authority, "ann", sentence="is there already")
        self.refuse("keys", "viewer", self.authority, "a/b", sentence="a name is 1 to 60")
        self.refuse("keys", "viewer", self.folder / "none", "ann", sentence="clade keys new makes an authority")

    def test_a_run_that_cannot_be_published_is_not_made(self):
        file = self.write_experiment()
        def run(address, *words, sentence):
            self.refuse("run", file, "--slots", "1", "--publish", address, *words, sentence=sentence)
        port = ports_of_a_publisher()
        keys = ("--keys", self.authority)
        run(f"127.0.0.1:{port}", sentence="--publish needs --keys")
        run(f"127.0.0.1:{port}", "--keys", self.folder / "none", sentence="clade keys new makes an authority")
        run("127.0.0.1:0", *keys, sentence="write a port between 1 and 65533")
        run("192.0.2.1:7420", *keys, sentence="cannot listen on 192.0.2.1:7420")
        run("nowhere", *keys, sentence="is no address")
        with socket.create_server(("127.0.0.1", port + 2)):
            run(f"127.0.0.1:{port}", *keys, sentence=f"cannot listen on 127.0.0.1:{port + 2}: is the port in use")
        (self.authority / "authority" / "publisher.key").chmod(0o644)
        run(f"127.0.0.1:{port}", *keys, sentence="publisher.key may be read by others")
        self.assertEqual(list(self.runs.glob("*")), [], "a run was made")


class TwoHosts(RemoteTest):
    def test_a_link_that_is_cut_is_seen_and_its_viewer_comes_back(self):
        network = Network("head", "desk")
        self.addCleanup(network.close)
        keys = self.make_viewer("ann")
        self.address = f"{network['head'].address}:7420"
        run = self.start_run("--publish", self.address, "--keys", self.authority, duration="400ms",
                             host=network["head"])
        viewer = self.attach(f"tcp://{self.address}", "--keys", keys, host=network["desk"])
        network["desk"].cut()
        await_true(lambda: '"showing":"not connected"' in viewer.out, "the cut was not seen")
        missed = self.count("select count(*) from evaluations")
        self.await_evaluations(missed + 2, run)
        network["desk"].heal()
        await_true(lambda: '"event":"restarted"' in viewer.out, "the viewer did not come back")
        self.assertEqual(run.end(), 0, run.said())
        self.assert_last_picture(viewer)


if __name__ == "__main__":
    unittest.main()
