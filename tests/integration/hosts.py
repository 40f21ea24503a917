"""Hosts for tests of a search on several machines: network namespaces with a switch between them, whose links can be cut
and made to lose packets.

A namespace has no name here: it is a descriptor of this process, and is gone with all that is in it when the descriptor
is closed and its last process has ended. So nothing is left behind however a test ends, and tests do not meet.
"""

import concurrent.futures
import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import unittest

from live_runs import RunTest, await_true

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
SWITCH = "switch"
# At the switch: a host whose own filter drops what it sends is told so.
LOSSES = """
table bridge losses {{
  chain {port} {{
    type filter hook forward priority 0;
    iifname {port} numgen random mod 100 < {percent} drop;
    oifname {port} numgen random mod 100 < {percent} drop;
  }}
}}
"""


def program(name, package):
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not found:
        raise unittest.SkipTest(f"no {name} on this machine: tools/test installs {package} on Debian")
    return found


def make_namespace():
    """A thread may have a network of its own; its descriptor outlives it."""
    def make():
        if LIBC.unshare(CLONE_NEWNET) != 0:
            raise unittest.SkipTest(f"this machine allows no network namespaces: {os.strerror(ctypes.get_errno())}")
        return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(make).result()


class Namespace:
    def __init__(self):
        self.descriptor = make_namespace()

    @property
    def path(self):
        return f"/proc/{os.getpid()}/fd/{self.descriptor}"

    def enter(self):
        """For a process between fork and exec."""
        if LIBC.setns(self.descriptor, CLONE_NEWNET) != 0:
            os._exit(1)

    def run(self, *words, said=""):
        done = subprocess.run(words, input=said, capture_output=True, text=True, preexec_fn=self.enter)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(words)}: {done.stdout}{done.stderr}")

    def ip(self, words):
        self.run(program("ip", "iproute2"), *words.split())

    def close(self):
        os.close(self.descriptor)


class Host(Namespace):
    """One machine of a network; `live_runs.Command` starts processes on it."""

    def __init__(self, network, number):
        super().__init__()
        self.network = network
        self.port = f"port{number}"
        self.address = f"10.77.0.{number}"
        network.switch.ip(f"link add {self.port} type veth peer name eth0 netns {self.path}")
        network.switch.ip(f"link set {self.port} master {SWITCH} up")
        self.ip("link set lo up")
        self.ip(f"address add {self.address}/24 dev eth0")
        self.ip("link set eth0 up")

    def cut(self):
        """Ends its connection as if its cable had been pulled."""
        self.network.switch.ip(f"link set {self.port} down")

    def heal(self):
        self.network.switch.ip(f"link set {self.port} up")

    def lose(self, percent):
        """So many of the packets that it sends and of those sent to it, drawn by chance."""
        self.network.switch.run(program("nft", "nftables"), "-f", "-",
                                said=LOSSES.format(port=self.port, percent=percent))


    def ends_of_cable(self):
        return (self.network.switch, self.port), (self, "eth0")

    def slow(self, rate):
        """So much goes through its cable in each direction ("2mbit" a second)."""
        for host, device in self.ends_of_cable():
            host.run(program("tc", "iproute2"), *f"qdisc add dev {device} root tbf rate {rate} burst 16kb latency 400ms".split())

    def slow_no_more(self):
        for host, device in self.ends_of_cable():
            host.run(program("tc", "iproute2"), *f"qdisc del dev {device} root".split())


class Network:
    """Hosts by name. Skips the test where this machine cannot have any."""

    def __init__(self, *names):
        self.closing = contextlib.ExitStack()
        with contextlib.ExitStack() as failing:
            failing.callback(self.close)
            self.switch = self.add(Namespace())
            self.switch.ip(f"link add {SWITCH} type bridge")
            self.switch.ip(f"link set {SWITCH} up")
            self.hosts = {name: self.add(Host(self, number)) for number, name in enumerate(names, 1)}
            failing.pop_all()

    def add(self, namespace):
        self.closing.callback(namespace.close)
        return namespace

    def __getitem__(self, name):
        return self.hosts[name]

    def close(self):
        self.closing.close()


class SharedRunTest(RunTest):
    """A search of several hosts: its head on one, workers of one slot on others."""

    HOSTS = ("head", "a", "b")

    def setUp(self):
        self.network = Network(*self.HOSTS)
        self.addCleanup(self.network.close)
        super().setUp()

    def start_head(self, *words, lease="6s", slots="none", population=24, generations=2, duration="120ms", **changes):
        self.candidates = population * generations
        self.file = self.write_experiment(population=population, generations=generations, duration=duration, **changes)
        head = self.start("run", self.file, "--slots", slots, "--listen", f"{self.network['head'].address}:0",
                          "--lease", lease, *words, host=self.network["head"])
        self.address = self.await_address(head)
        return head

    def await_address(self, head):
        def told():
            if not head.running:
                raise AssertionError(f"clade ended before it listened:\n{head.said()}")
            text = "".join(file.read_text() for file in self.runs.glob("*/address"))
            return text.endswith("\n") and text.strip()
        return await_true(told, "no address in the run's folder")

    def start_worker(self, name, *words, address=None):
        keys = self.folder / "keys"  # They are a copy, as on another machine.
        if not keys.exists():
            shutil.copytree(self.run_folder() / "keys" / "worker", keys)
        return self.start("worker", "--connect", address or self.address, "--keys", keys, "--slots", "1",
                          "--name", name, *words, host=self.network[name])

    def start_all(self, *words, words_of_a=(), **experiment):
        """A head and workers on hosts a and b, once both work."""
        head = self.start_head(*words, **experiment)
        self.join_all(head, words_of_a=words_of_a)
        return head

    def join_all(self, head, address=None, words_of_a=()):
        """The head is held meanwhile: the first to join might soon have evaluated everything."""
        self.finish("control", "hold", self.run_folder())
        self.workers = {"a": self.start_worker("a", *words_of_a, address=address),
                        "b": self.start_worker("b", address=address)}
        self.await_count("select count(distinct slot) from nodes where slot in ('a/cpu:0', 'b/cpu:0')", 2, head)
        self.finish("control", "go-on", self.run_folder())

    def resume(self, host="head", slots="none", lease="6s"):
        """On that host and the present address."""
        return self.start("resume", self.run_folder(), "--slots", slots, "--listen", self.address, "--lease", lease,
                          host=self.network[host])

    def end(self, head):
        """The run and those of its workers that are still there end as they should."""
        self.assertEqual(head.end(), 0, head.said() + self.log())
        self.assert_whole(self.candidates)
        for worker in self.workers.values():
            self.assertEqual(worker.end(), 0, worker.said() + self.log())

    def end_undisturbed(self, head):
        self.end(head)
        self.assert_undisturbed(self.file)

    def await_training(self, slot):
        """Until its node has told of an epoch."""
        def trains():
            return any(s["slot"] == slot and s["epoch"] > 0 for s in self.slots())
        await_true(trains, f"{slot} does not train")

    def slots(self):
        """Returns the slots as the head last wrote them, which it does each second."""
        file = self.run_folder() / "slots.json"
        return json.loads(file.read_text())["slots"] if file.exists() else []

    def attempts(self):
        return self.query("select id, attempt, slot, reason from attempts order by sequence")
