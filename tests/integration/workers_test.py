"""The messages of `clade worker` and `clade workers`, and keys, ports and names that are wrong: each is one
sentence."""

import json
import re
import shutil
import socket
import unittest

from faked_time import faked_time
from live_runs import RunTest


class Listing(RunTest):
    def test_it_lists_the_slots_of_a_live_run(self):
        run = self.start("run", self.write_experiment(population=24, generations=2, duration="100ms"), "--slots", "2")
        self.await_evaluations(24, run)
        shown = json.loads(self.finish("workers", self.run_folder(), "--json").out)
        self.assertEqual(sorted(slot["slot"] for slot in shown["slots"]), ["cpu:0", "cpu:1"])
        self.assertTrue(all(slot["ready"] and not slot["away"] for slot in shown["slots"]), shown)
        table = self.finish("workers", "toy").out
        self.assertIn(f"{self.run_folder()}: 2 slots", table)
        for slot in ("cpu:0", "cpu:1"):
            self.assertRegex(table, rf"(?m)^ *{slot} .*(#\d+|idle)")
        self.assertEqual(run.end(), 0, run.said())

    def test_it_tells_who_was_there_when_none_is_live(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "1")
        shown = self.finish("workers", self.run_folder())
        self.assertIn("no session is live", shown.out)
        self.assertRegex(shown.out, r"(?m)^ *cpu:0 ")
        self.assertEqual(self.finish("workers", "nobody", status=2).err.count("\n"), 1)


class KeysTest(RunTest):
    def setUp(self):
        super().setUp()
        self.authority = self.folder / "authority"
        self.keys = self.make_keys(self.authority)

    def make_keys(self, authority, **changes):
        for words in (("new", authority), ("worker", authority, "box")):
            made = self.start("keys", *words, **changes)
            self.assertEqual(made.end(), 0, made.said())
        return authority / "box"

    def free_port(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            return server.getsockname()[1]


class GivingUp(KeysTest):
    def give_up(self, host):
        worker = self.start("worker", "--connect", host, "--keys", self.keys, "--slots", "1", "--give-up", "2s",
                            environment={"RES_OPTIONS": "timeout:1 attempts:1"})
        self.assertEqual(worker.end(), 1, worker.said())
        self.assertRegex(worker.out, rf"^\S+ offers 1 slot to the run at {re.escape(host)}\n$")
        self.assertRegex(worker.err, rf"^clade: cannot join the run at {re.escape(host)}: [^\n]+\n$")
        return worker.err

    def test_a_head_that_is_not_there(self):
        self.assertIn("Connection refused", self.give_up(f"127.0.0.1:{self.free_port()}"))

    def test_a_name_that_no_host_has(self):
        self.assertRegex(self.give_up("nowhere.invalid:7411"), "[Nn]ame")


class RefusedKeys(KeysTest):
    def refuse(self, sentence):
        worker = self.finish("worker", "--connect", "127.0.0.1:1", "--keys", self.keys, "--slots", "1", status=2)
        self.assertEqual(worker.out, "")
        self.assertRegex(worker.err, rf"^clade: [^\n]*{sentence}[^\n]*\n$")

    def test_a_folder_without_any(self):
        self.keys = self.folder / "nothing"
        self.refuse("is missing or not readable")

    def test_a_key_that_others_may_read(self):
        (self.keys / "key.pem").chmod(0o640)
        self.refuse("key.pem may be read by others: chmod 600")

    def test_those_that_are_expired(self):
        self.keys = self.make_keys(self.folder / "old", environment=faked_time("-400d"))
        self.refuse("cert.pem is expired: copy it again from the run")

    def test_those_of_tomorrow(self):
        self.keys = self.make_keys(self.folder / "new", environment=faked_time("+3d"))
        self.refuse("cert.pem is not valid yet: is this machine's clock right")

    def test_a_key_of_another_certificate(self):
        shutil.copy(self.make_keys(self.folder / "other") / "key.pem", self.keys)
        self.refuse("is not the certificate of key.pem beside it")

    def test_a_certificate_of_another_authority(self):
        shutil.copy(self.make_keys(self.folder / "other") / "ca.pem", self.keys)
        self.refuse("is not signed by the authority in ca.pem beside it")

    def test_what_is_no_key(self):
        (self.keys / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\nno\n")
        self.refuse("key.pem is no PEM file of its kind")

    def test_a_run_without_its_authority(self):
        run = self.finish("run", self.write_experiment(), "--slots", "none", "--listen", "127.0.0.1:0",
                          "--keys", self.keys, status=2)
        self.assertRegex(run.err, r"^clade: [^\n]*clade keys new makes an authority\n$")

    def test_an_authority_that_is_expired(self):
        old = self.folder / "old"
        self.assertEqual(self.start("keys", "new", old, environment=faked_time("-4000d")).end(), 0)
        run = self.finish("run", self.write_experiment(), "--keys", old, status=2)
        self.assertRegex(run.err, r"^clade: [^\n]*cert.pem is expired, so that it makes no keys any more: [^\n]+\n$")


class RefusedPort(RunTest):
    def refuse(self, address, sentence):
        run = self.finish("run", self.write_experiment(), "--slots", "1", "--listen", address, status=2)
        self.assertRegex(run.err, rf"^clade: {sentence}[^\n]*\n$")
        self.assertEqual(list(self.runs.glob("*")), [], "a run was made")

    def test_one_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            self.refuse(address, f"cannot listen on {re.escape(address)}: is the port in use")

    def test_an_address_of_another_machine(self):
        self.refuse("192.0.2.1:7411", re.escape("cannot listen on 192.0.2.1:7411: "))

    def test_a_name_that_no_host_has(self):
        self.refuse("nowhere.invalid:7411", re.escape("cannot listen on nowhere.invalid:7411: "))

    def test_what_is_no_address(self):
        for address in ("127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", ":7411"):
            with self.subTest(address=address):
                self.refuse(address, rf"[^\n]*{re.escape(address)}")


if __name__ == "__main__":
    unittest.main()
