"""A search on three machines for tools/chaos: a head and two workers, each on a host of its own where this machine has
network namespaces and else on loopback, all started again when they end, and what can be seen of them from outside."""

import concurrent.futures
import contextlib
import heapq
import itertools
import json
import os
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import unittest

import hosts
from live_runs import CLADE, LIBC, PR_SET_PDEATHSIG, await_end, processes_of

WORKERS = ("alpha", "beta")
LEASES = ("1s", "2s", "6s")

# A head that is there, and slots that are, need not a tenth of this.
PATIENCE_S = 90

# A training that all slots share is one at a time, goes back at many a fault, and begins anew with all of its nodes.
TEAM_PATIENCE_S = 300


class Broken(Exception):
    """An event that no fault excuses."""


def ends_within(process, seconds):
    """Whether a child of ours has ended by then."""
    descriptor = os.pidfd_open(process.pid) if process.poll() is None else None
    if descriptor is None:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(max(0, seconds) * 1000)
    finally:
        os.close(descriptor)
    return process.poll() is not None


def make_network():
    """Or the reason why this machine has none."""
    try:
        hosts.program("nft", "nftables")
        return hosts.Network("head", *WORKERS, "stranger"), ""
    except unittest.SkipTest as reason:
        return None, str(reason)


class Cluster:
    """`search`: words of `clade run` that say what is searched. `slots` by host. `teams`: several slots share each
    training."""

    def __init__(self, folder, search, slots, network, draw, teams):
        self.folder, self.search, self.slots, self.network, self.draw = folder, search, slots, network, draw
        self.teams = teams
        self.head, self.workers = None, {}
        self.head_killed = self.finished = False
        self.ended, self.left = set(), []  # Workers that we ended, and what those said that went by themselves.
        self.full = self.failing = None  # A disk fault that waits for the head to meet it.
        self.run = None
        self.due, self.order = [], itertools.count()  # The actions that are to be done later: (time, order, action).
        self.disturbed = {}  # By slot, since when its node may be another.
        self.disturbed_until = 0.0
        self.recently_cut = {}
        self.lossy, self.slow = set(), set()
        self.advanced = (time.time(), -1)
        self.calm_at = time.time()
        self.strangers = concurrent.futures.ThreadPoolExecutor(1, initializer=self.enter_as_stranger)
        address = network["head"].address if network else "127.0.0.1"
        self.address = (address, 7700 if network else self.free_port())

    @staticmethod
    def free_port():
        with socket.create_server(("127.0.0.1", 0)) as server:
            return server.getsockname()[1]

    def enter_as_stranger(self):
        """The thread that knocks at the head's port does so from a host of its own."""
        if self.network:
            self.network["stranger"].enter()

    # Processes

    def start(self, host, name, words, environment=None):
        parent = os.getpid()

        def prepare():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            if self.network:
                self.network[host].enter()

        with (self.folder / f"{name}.log").open("a") as log:
            return subprocess.Popen([CLADE, *map(str, words)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    cwd=self.folder, env={**os.environ, **(environment or {})}, preexec_fn=prepare,
                                    start_new_session=True)

    def start_head(self):
        words = ["--listen", "{}:{}".format(*self.address), "--slots", self.slots["head"], "--lease",
                 self.draw.choice(LEASES)]
        if self.run is None:
            self.head = self.start("head", "head", ["run", *self.search, "--runs", self.folder / "runs", *words])
            self.await_run()
        else:
            self.head = self.start("head", "head", ["resume", self.run, *words], self.failing_disk())
        self.head_killed, self.full = False, None

    def failing_disk(self):
        """Now and then the disk under a head that is resumed will fail."""
        self.failing = None
        if "CLADE_FAILING_DISK" not in os.environ or self.draw.random() > 0.2:
            return None
        kind, call = self.draw.choice((("write", 600), ("sync", 80)))
        self.failing = kind
        return {"LD_PRELOAD": os.environ["CLADE_FAILING_DISK"], "CLADE_TEST_FAIL": kind,
                "CLADE_TEST_FAIL_AT": str(self.draw.randint(call // 20, call))}

    def await_run(self):
        """Until there is a run that workers can join."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := list((self.folder / "runs").glob("*/address"))):
            if ends_within(self.head, 0.02) or time.monotonic() > deadline:
                raise Broken(f"the run did not start: {self.said('head')}")
        self.run = found[0].parent
        shutil.copytree(self.run / "keys" / "worker", self.folder / "keys")

    def start_worker(self, name):
        self.workers[name] = self.start(name, name, [
            "worker", "--connect", "{}:{}".format(*self.address), "--keys", self.folder / "keys",
            "--slots", self.slots[name], "--name", name])

    def said(self, name):
        return (self.folder / f"{name}.log").read_text()[-2000:]

    def nodes(self):
        """The node processes by slot."""
        return {p.option("--slot"): p for p in processes_of(self.folder) if p.role == "node"}

    def worker_pid(self, name):
        """The head has a worker of its own on its host."""
        if name != "head":
            return self.workers[name].pid
        return next((p.pid for p in processes_of(self.folder) if p.role == "worker" and p.parent == self.head.pid),
                    None)

    def slots_of(self, name):
        return [f"{name}/cpu:{n}".removeprefix("head/") for n in range(self.slots[name])]

    def all_slots(self):
        return [slot for name in self.slots for slot in self.slots_of(name)]

    # Time

    def later(self, seconds, action):
        heapq.heappush(self.due, (time.time() + seconds, next(self.order), action))

    def disturb(self, slots=(), seconds=0.0):
        """Nodes of these slots may be lost from now on, or all for so long."""
        now = time.time()
        self.disturbed.update(dict.fromkeys(slots, now))
        self.disturbed_until = max(self.disturbed_until, now + seconds)

    def start_all(self):
        self.start_head()
        for name in WORKERS:
            self.start_worker(name)

    def tend(self, seconds):
        """Lets so much time pass, or until something ended, and starts again what should be there. Returns the disk
        fault by which the head ended, if it did."""
        if self.due:
            seconds = max(0, min(seconds, self.due[0][0] - time.time()))
        if self.head_is_there:
            ends_within(self.head, seconds)
        else:
            time.sleep(seconds)
        while self.due and self.due[0][0] <= time.time():
            heapq.heappop(self.due)[2]()
        for name, worker in list(self.workers.items()):
            if worker.poll() is not None and self.head.poll() is None:
                if self.state() == "finished":
                    continue  # It was dismissed, and the head ends soon.
                if name not in self.ended:
                    self.left.append(f"{name}, status {worker.returncode}: {self.said(name)[-300:]}")
                self.ended.discard(name)
                self.disturb(self.slots_of(name))
                self.start_worker(name)
        return self.tend_head()

    def tend_head(self):
        status = self.head.poll()
        if status is None or self.head_killed or self.finished:
            return None
        if status == 0 or (status == 2 and self.state() == "finished"):
            self.finished = True
            return None
        met = "disk is full" if self.full else f"disk fails to {self.failing}" if self.failing else None
        if status != 1 or not met:
            raise Broken(f"the head ended with status {status}: {self.said('head')}")
        self.resume_in(0.3)
        return met

    def resume_in(self, seconds):
        """Starts the next head, if the present one was not the last."""
        self.head_killed = True

        def resume():
            if self.state() == "finished":
                self.finished = True
            else:
                self.start_head()

        self.later(seconds, resume)

    def kill_head(self, seconds):
        self.head.kill()
        self.head.wait()
        self.resume_in(seconds)

    @property
    def head_is_there(self):
        return not self.head_killed and self.head.poll() is None

    # The parts that can be seen

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(f"file:{self.run}/run.db?mode=ro", uri=True, timeout=20)) as store:
            return store.execute(sql).fetchall()

    def state(self):
        return self.query("select state from progress")[0][0]

    def snapshot(self):
        """Returns the slots that the head wrote last, by name, and when; None if there are two of a name, or none."""
        try:
            file = self.run / "slots.json"
            slots, at = json.loads(file.read_text())["slots"], file.stat().st_mtime
        except (OSError, ValueError):
            return None
        by_name = {s["slot"]: s for s in slots}
        return (by_name, at) if len(by_name) == len(slots) else None

    def trouble(self):
        """Why this is no calm moment; None in one. Then all nodes are there, and nothing is disturbed."""
        now = time.time()
        seen = self.snapshot()
        if not self.head_is_there or seen is None:
            return "the head is not there"
        slots, at = seen
        if at < max(now - 2, self.disturbed_until):
            return "something lasts"
        for name in self.all_slots():
            slot = slots.get(name)
            if slot is None or not slot["ready"] or slot["away"] or slot["heard_ms"] > 1500:
                return f"{name} is not there"
            if at - slot["joined_ms"] / 1000 < self.disturbed.get(name, 0):
                return f"{name} has no new process"
        self.calm_at = now
        return None

    def check_progress(self):
        """The search may be slow under faults, but it moves."""
        now = time.time()
        try:
            evaluated = self.query("select evaluated from progress")[0][0]
        except (sqlite3.OperationalError, IndexError):
            evaluated = self.advanced[1]
        if evaluated != self.advanced[1]:
            self.advanced = (now, evaluated)
        patience = TEAM_PATIENCE_S if self.teams else PATIENCE_S
        if now - self.advanced[0] > patience:
            raise Broken(f"nothing was evaluated for {patience} s: {self.said('head')}")
        if now - self.calm_at > 2 * PATIENCE_S and (trouble := self.trouble()):
            raise Broken(f"no calm within {2 * PATIENCE_S} s: {trouble}; {self.snapshot()}")

    # The end

    def settle(self):
        """Undoes what lasts, and lets the search end."""
        while self.due:
            heapq.heappop(self.due)[2]()
        deadline = time.monotonic() + 4 * (TEAM_PATIENCE_S if self.teams else PATIENCE_S)
        while not self.finished:
            self.tend(1)
            self.check_progress()
            if time.monotonic() > deadline:
                raise Broken(f"the run did not end in time: {self.said('head')}")

    def close(self):
        """Ends whatever runs."""
        for process in (self.head, *self.workers.values()):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        for process in processes_of(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            await_end(process.pid)
        self.strangers.shutdown()
