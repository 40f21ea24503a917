"""A run on a machine that others use: what it writes is its owner's, and what knocks at its port is turned away."""

import os
import pathlib
import re
import resource
import select
import socket
import ssl
import stat
import time
import unittest
import urllib.request

from live_runs import PATIENCE_S, RunTest, await_true, ports_of_a_publisher

# The memory that a head may take more after strangers were there; a message of theirs would be of hundreds.
MOST_GROWTH = 32 << 20


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def memory_of(command):
    """Resident bytes."""
    status = pathlib.Path("/proc", str(command.pid), "status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))


def plain_port(connection):
    return connection.getsockname()[1]


def refusal_of(port):
    return f"refused a connection from 127.0.0.1 port {port}"


def ended(connection):
    """Whether the head ends it, after whatever it still says."""
    try:
        while connection.recv(4096):
            pass
    except (ssl.SSLError, ConnectionError):
        pass
    except TimeoutError:
        return False
    return True


class SecurityTest(RunTest):
    def start_run(self, words=(), descriptors=None, **changes):
        self.file = self.write_experiment(**{"population": 24, "generations": 3, "duration": "25ms", **changes})
        run = self.start("run", self.file, "--slots", "2", *words, descriptors=descriptors)
        self.await_count("select count(*) from nodes", 2, run)
        self.await_evaluations(4, run)
        self.keys = self.run_folder() / "keys"
        self.bundle = self.keys / "worker"
        self.port = int(self.worker(run).option("--connect").rpartition(":")[2])
        return run

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def context(self, keys=None):
        """A client that shows a certificate of those keys, or none, and believes whatever it is shown."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if keys:
            context.load_cert_chain(keys / "cert.pem", keys / "key.pem")
        return context

    def end_undisturbed(self, run):
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(72)
        self.assertEqual(self.query("select * from attempts"), [])
        self.assertEqual(self.count("select count(*) from nodes"), 2)
        self.assert_undisturbed(self.file)


class Files(SecurityTest):
    def test_nobody_else_reads_a_run_or_its_keys(self):
        old = os.umask(0)
        try:
            run = self.start_run()
        finally:
            os.umask(old)
        folder = self.run_folder()
        self.assertEqual(mode_of(folder), 0o700)
        for path in self.keys.rglob("*"):
            self.assertEqual(mode_of(path), 0o700 if path.is_dir() else 0o600, path)
        self.assertEqual(mode_of(self.keys), 0o700)
        self.assertEqual({str(p.relative_to(self.keys)) for p in self.keys.rglob("*.pem")},
                         {f"{role}/{file}.pem" for role in ("head", "worker") for file in ("ca", "cert", "key")}
                         | {"authority/cert.pem", "authority/key.pem"}, "the authority's own key is in no bundle")
        self.assertEqual(run.end(), 0, run.said())

    def test_each_session_has_keys_of_its_own(self):
        run = self.start_run()
        first = (self.bundle / "ca.pem").read_bytes()
        run.kill()
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assertNotEqual((self.bundle / "ca.pem").read_bytes(), first)


class Port(SecurityTest):
    def refused(self, context):
        """Whether the head ends the connection instead of taking what is said. In TLS 1.3 a client learns only with the
        first bytes it reads that its certificate was not liked."""
        with self.connect() as plain:
            try:
                with context.wrap_socket(plain) as secure:
                    secure.sendall(b"hello")
                    return secure.recv(1) == b""
            except (ssl.SSLError, ConnectionError):
                return True

    def test_it_listens_on_this_machine_only(self):
        run = self.start_run()
        listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
                     if line.split()[3] == "0A" and line.split()[1].endswith(f":{self.port:04X}")]
        self.assertEqual(listening, [f"0100007F:{self.port:04X}"])
        everywhere = pathlib.Path("/proc/net/tcp6")
        if everywhere.exists():
            self.assertNotIn(f":{self.port:04X} 00000000000000000000000000000000:0000 0A", everywhere.read_text())
        self.assertEqual(run.end(), 0, run.said())

    def test_a_client_without_a_certificate_is_turned_away(self):
        run = self.start_run()
        self.assertTrue(self.refused(self.context()))
        self.end_undisturbed(run)

    def test_a_client_with_the_certificate_of_another_run_is_turned_away(self):
        self.finish("run", self.write_experiment(population=4, generations=1, name="other"), "--slots", "1")
        foreign = self.folder / "foreign"
        (self.run_folder() / "keys" / "worker").rename(foreign)
        self.run_folder().rename(self.folder / "other")
        run = self.start_run()
        self.assertTrue(self.refused(self.context(foreign)))
        self.end_undisturbed(run)

    def test_a_worker_with_the_keys_of_another_run_does_not_join(self):
        self.finish("run", self.write_experiment(population=4, generations=1, name="other"), "--slots", "1")
        foreign = self.folder / "foreign"
        (self.run_folder() / "keys" / "worker").rename(foreign)
        self.run_folder().rename(self.folder / "other")
        run = self.start_run()
        stranger = self.start("worker", "--connect", f"127.0.0.1:{self.port}", "--keys", foreign, "--slots", "1")
        self.assertEqual(stranger.end(), 2)
        self.assertIn("cannot join the run", stranger.err)
        self.assertIn("these are the keys of another run", stranger.err)
        self.end_undisturbed(run)

    def test_a_worker_with_the_keys_of_this_run_joins(self):
        run = self.start_run(duration="200ms")
        friend = self.start("worker", "--connect", f"127.0.0.1:{self.port}", "--keys", self.bundle, "--slots", "1")
        self.await_count("select count(*) from nodes", 3, run)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(72)
        self.assertEqual(friend.end(), 0, friend.said())

    def test_the_head_shows_the_certificate_of_its_run(self):
        run = self.start_run()
        context = self.context(self.bundle)
        context.load_verify_locations(self.bundle / "ca.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        with self.connect() as plain, context.wrap_socket(plain) as secure:
            self.assertIn(secure.version(), ("TLSv1.2", "TLSv1.3"))
        self.end_undisturbed(run)

    def test_old_versions_of_tls_are_not_spoken(self):
        run = self.start_run()
        context = self.context(self.bundle)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        self.assertTrue(self.refused(context))
        self.assertEqual(run.end(), 0, run.said())

    def test_garbage_and_scans_leave_the_run_as_it_is(self):
        run = self.start_run()
        nodes = {slot: p.pid for slot, p in self.nodes().items()}
        for said in (b"", b"GET / HTTP/1.0\r\n\r\n", bytes(range(256)) * 4096, b"\x16\x03\x01\xff\xff" + b"\0" * 70000):
            for _ in range(10):
                with self.connect() as stranger:
                    try:
                        stranger.sendall(said)
                    except ConnectionError:
                        pass  # It was turned away before it had said everything.
        for _ in range(10):
            self.assertTrue(self.refused(self.context()))
        self.assertEqual({slot: p.pid for slot, p in self.nodes().items()}, nodes)
        self.end_undisturbed(run)

    def test_those_who_connect_and_say_nothing_are_not_waited_for(self):
        run = self.start_run()
        silent = [self.connect() for _ in range(5)]
        self.end_undisturbed(run)
        for stranger in silent:
            stranger.close()

    def test_garbage_of_one_who_holds_keys_leaves_the_run_as_it_is(self):
        run = self.start_run()
        for said in (b"\0" * 100, b"\xff" * 100_000, bytes(range(256)) * 100):
            with self.connect() as plain, self.context(self.bundle).wrap_socket(plain) as secure:
                try:
                    secure.sendall(said)
                    while secure.recv(4096):
                        pass
                except (ssl.SSLError, ConnectionError, TimeoutError):
                    pass  # The head may end it as it likes, or wait for more.
        self.end_undisturbed(run)

    def test_who_holds_keys_cannot_make_the_head_take_memory(self):
        run = self.start_run(duration="100ms")
        before = memory_of(run)
        ports = []
        for length in (0xFFFFFFFF, 0x80000000, (512 << 20) + 1):
            with self.connect() as plain, self.context(self.bundle).wrap_socket(plain) as secure:
                ports.append(plain_port(secure))
                secure.sendall(bytes(4) + length.to_bytes(4, "big") + bytes(24))
                self.assertTrue(ended(secure), "it was not cut off")
        for port in ports:
            self.await_log(f"{refusal_of(port)}: it announced a message of more than 512 MiB", run)
        self.assertLess(memory_of(run), before + MOST_GROWTH)
        self.end_undisturbed(run)

    def test_who_is_refused_is_logged_with_the_address(self):
        foreign = self.folder / "foreign"
        for words in (("new", foreign), ("worker", foreign, "box")):
            self.finish("keys", *words)
        run = self.start_run(duration="100ms")
        before = memory_of(run)
        with self.connect() as plain:
            scanned = plain_port(plain)
        with self.connect() as plain:
            plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
            garbage = plain_port(plain)
            self.assertTrue(ended(plain))
        with self.connect() as plain, self.context(foreign / "box").wrap_socket(plain) as secure:
            stranger = plain_port(secure)
            self.assertTrue(ended(secure))
        self.await_log(f"{refusal_of(scanned)}: ", run)
        self.await_log(f"{refusal_of(garbage)}: no TLS handshake (", run)
        self.await_log(f"{refusal_of(stranger)}: its certificate is not of this run's authority", run)
        self.assertLess(memory_of(run), before + MOST_GROWTH)
        self.end_undisturbed(run)

    def test_a_handshake_that_never_ends_is_cut(self):
        # The run must last longer than strangers may take.
        run = self.start_run(duration="500ms")
        before, started = memory_of(run), time.monotonic()
        strangers = [self.connect() for _ in range(8)]  # If there are more in a second, not all are logged.
        try:
            # Half of them begin what looks like a client's first words; one of these goes on by a byte at a time.
            for stranger in strangers[::2]:
                stranger.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            waiting = {s.fileno(): s for s in strangers}
            while waiting:
                self.assertLess(time.monotonic() - started, PATIENCE_S, f"{len(waiting)} are still there")
                readable, _, _ = select.select(list(waiting), [], [], 0.5)
                for descriptor in readable:
                    self.assertGreater(time.monotonic() - started, 9, "it was given too little time")
                    self.assertTrue(ended(waiting.pop(descriptor)))
                if strangers[0].fileno() in waiting:
                    strangers[0].sendall(b"\0")
            ports = [plain_port(s) for s in strangers]
        finally:
            for stranger in strangers:
                stranger.close()
        log = self.log()
        for port in ports:
            self.assertIn(f"{refusal_of(port)}: its TLS handshake took too long", log)
        self.assertEqual(log.count("refused a connection"), len(ports))
        self.assertLess(memory_of(run), before + MOST_GROWTH)
        self.assertEqual(self.query("select * from attempts"), [])
        self.assertEqual(self.count("select count(*) from nodes"), 2)
        # Enough was seen; nothing more would come of the rest.
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())


def knock_as_nobody(port):
    """Whether another user's connection is ended before it said anything."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as knocking:
                status = 0 if knocking.recv(1) == b"" else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def status_of(address):
    """None if the connection is refused."""
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            return answer.status
    except (ConnectionError, urllib.error.URLError) as error:
        if not isinstance(getattr(error, "reason", error), ConnectionError):
            raise
        return None


class Flood(SecurityTest):
    def flood(self, port, count):
        """Connects so often and says nothing; what the other side ends is kept too."""
        silent = []
        for _ in range(count):
            stranger = socket.socket()
            stranger.setblocking(False)
            stranger.connect_ex(("127.0.0.1", port))
            silent.append(stranger)
        self.addCleanup(lambda: [stranger.close() for stranger in silent])
        return silent

    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.count_of_strangers = min(10_000, hard - 200)

    def test_ten_thousand_strangers_do_not_end_a_run_that_may_have_1024_descriptors(self):
        run = self.start_run(descriptors=1024, duration="500ms")
        silent = self.flood(self.port, self.count_of_strangers)
        self.await_log("refused a connection from 127.0.0.1", run)
        # When those whom nobody accepted yet stop trying, one with keys gets in from the same address.
        for stranger in silent[:-200]:
            stranger.close()
        friend = self.start("worker", "--connect", f"127.0.0.1:{self.port}", "--keys", self.bundle, "--slots", "1")
        self.await_count("select count(*) from nodes", 3, run)
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(friend.end(), 0, friend.said())
        self.assert_whole(72)
        self.assert_undisturbed(self.file)

    def test_nor_those_who_come_where_it_is_watched(self):
        authority = self.folder / "authority"
        self.finish("keys", "new", authority)
        port = ports_of_a_publisher()
        run = self.start_run(words=("--keys", authority, "--publish", f"127.0.0.1:{port}"), descriptors=1024, duration="100ms")
        self.flood(port, self.count_of_strangers // 2)
        self.flood(port + 1, self.count_of_strangers // 2)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(72)

    def test_a_page_still_answers_and_so_do_metrics(self):
        run = self.start_run(duration="300ms")
        for option in (("--web",), ("--metrics", "0")):
            view = self.start("attach", self.run_folder(), *option, descriptors=1024)
            address = await_true(lambda v=view: re.search(r"http://127\.0\.0\.1:(\d+)/(metrics|\?token=\w+)", v.out),
                                 "it says no address")
            self.flood(int(address[1]), 2000)
            # So many connections at once use up what their address may have for a second.
            self.assertEqual(await_true(lambda a=address[0]: status_of(a), "it answers no more"), 200, option)
            view.kill()
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_another_user_of_the_machine_is_turned_away_at_once(self):
        run = self.start_run(duration="60ms")
        self.assertTrue(knock_as_nobody(self.port))
        self.await_log("refused a connection from 127.0.0.1: it is of another user of this machine", run)
        self.end_undisturbed(run)


if __name__ == "__main__":
    unittest.main()
