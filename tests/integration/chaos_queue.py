"""tools/chaos --only queue: short jobs in a queue of several machines, whose server and machines are killed, stopped, told
to leave and out of disk, while their clocks are set and another local user tries to disturb. Every job comes to one recorded
end, its own; none is lost, and none is blamed for what happened to it.

Full disks are file systems of their own (tmpfs), which root alone may mount, and the other user is one whom root alone can
be; the clock is that of CLADE_STEPPED_CLOCK, the tests' library. A fault that cannot be had is left out, and counted
nowhere."""

import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request

import faked_time
from live_runs import CLADE

LEASE_S = 2
NODES = {"alpha": 2, "beta": 2, "gamma": 2}
BATCH = 50
PATIENCE_S = 120  # Without any end.
FINAL = (4, 5, 6)  # entry_state: succeeded, failed, cancelled
ENDED = 4  # kind of event
STRANGER = 12345
STRANGERS_PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin")  # Ours may be in a folder of root's.
DISK_MIB = 64
HOUR, DAY = 3600, 86400


class Broken(Exception):
    """The queue did not come to its end."""


@dataclasses.dataclass
class Result:
    jobs: int = 0
    faults: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    ended_once: int = 0
    lost: int = 0  # Submitted, and without an end.
    twice: int = 0  # With more than one end, or submitted twice.
    wrong: int = 0  # Their end is not what the job did.
    started_again: int = 0  # Their machine or the server was lost: they may have run twice.
    ran_twice: int = 0  # The number of those that ran twice.
    given_up: int = 0  # Blamed for losses.
    leaked: list = dataclasses.field(default_factory=list)  # The lines that the other user got.
    complaints: list = dataclasses.field(default_factory=list)  # The faults that were found, each with its job.
    seconds: float = 0
    broken: str = ""

    @property
    def clean(self):
        return not (self.lost or self.twice or self.wrong or self.given_up or self.leaked or self.broken)


class Disk:
    """A small file system for a folder; none where it cannot be had."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=0700", "tmpfs", folder], capture_output=True)
        self.is_there = mounted.returncode == 0

    def fill(self):
        with contextlib.suppress(OSError), open(self.folder / "junk", "wb", buffering=0) as junk:
            while junk.write(bytes(1 << 16)):
                pass

    def make_room(self):
        with contextlib.suppress(FileNotFoundError):
            (self.folder / "junk").unlink()

    def end(self):
        if self.is_there:
            subprocess.run(["umount", "-l", self.folder], check=True)


class Queue:
    """A server with two slots of its own and three machines of two, each a process of this host."""

    def __init__(self, folder):
        self.folder = folder
        folder.chmod(0o711)  # Others may look for what is in it.
        self.queue = folder / "queue"
        self.disks = {"server": Disk(self.queue), "machine": Disk(folder / "machines")}
        self.clock = faked_time.SteppedClock(folder) if "CLADE_STEPPED_CLOCK" in os.environ else None
        self.strangers = []
        self.processes = {}
        self.log = open(folder / "said", "a")
        self.start("server")
        self.clade("serve", self.queue, "--add-user", "lab", "--role", "worker")
        for node in NODES:
            shutil.copytree(self.queue / "users" / "lab", self.folder_of(node))
            self.start(node)

    def folder_of(self, node):
        return self.folder / "machines" / node

    def clade(self, *words):
        subprocess.run([CLADE, *map(str, words)], check=True, stdout=subprocess.DEVNULL)

    def start(self, name):
        if name == "server":
            words = ["serve", self.queue, "--slots", "2", "--lease", f"{LEASE_S}s"]
        else:
            words = ["worker", "--queue", self.folder_of(name), "--name", name, "--slots", str(NODES[name]), "--grace", "5s"]
        self.processes[name] = subprocess.Popen([CLADE, *map(str, words)], stdin=subprocess.DEVNULL, stdout=self.log,
                                                stderr=self.log, start_new_session=True,
                                                env={**os.environ, **(self.clock.environment if self.clock else {})})
        deadline = time.monotonic() + PATIENCE_S
        while name == "server" and not self.ask("GET", "/v1/machine", once=True):
            if self.processes[name].poll() is not None or time.monotonic() > deadline:
                raise Broken("the server does not come back")
            time.sleep(0.01)

    def ask(self, method, path, body=None, once=False):
        """Asks again until somebody answers."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(OSError, urllib.error.URLError, json.JSONDecodeError):
                address = (self.queue / "address").read_text().strip()
                token = (self.queue / "token").read_text().strip()
                request = urllib.request.Request(address + path, method=method, data=body and json.dumps(body).encode(),
                                                 headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=5) as answer:
                    return json.load(answer)
            if once:
                return None
            if time.monotonic() > deadline:
                raise Broken("nobody answers")
            self.restart_dead()
            time.sleep(0.02)

    def restart_dead(self):
        for name, process in list(self.processes.items()):
            if process.poll() is not None:
                self.start(name)

    def signal(self, name, what):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.processes[name].pid, what)

    def let_in_a_stranger(self, seconds):
        """Beside what else happens."""
        port = (self.queue / "address").read_text().split()[0].rpartition(":")[2]
        self.strangers.append(subprocess.Popen(
            [STRANGERS_PYTHON, "-c", pathlib.Path(__file__).with_name("chaos_stranger.py").read_text(), port, str(seconds), self.queue,
             *map(self.folder_of, NODES)], user=STRANGER, group=STRANGER, extra_groups=[], cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))

    def end(self):
        for disk in self.disks.values():
            disk.make_room()
        for what in (signal.SIGCONT, signal.SIGKILL):
            for name in self.processes:
                self.signal(name, what)
        for process in self.processes.values():
            process.wait()
        self.log.close()
        for disk in self.disks.values():
            disk.end()

    def end_strangers(self):
        """Returns the lines that they got."""
        return [line for one in self.strangers for line in one.communicate()[0].splitlines()]


def submit(queue, jobs, counted, draw):
    """In batches, each again until it is answered: a word of its own keeps a job from being submitted twice."""
    ids = []
    for first in range(0, jobs, BATCH):
        entries = []
        for job in range(first, min(first + BATCH, jobs)):
            fails = job % 17 == 0
            script = f"echo begin >>{counted}/{job}; sleep {draw.uniform(0.02, 0.3):.2f}; echo end >>{counted}/{job}"
            entries.append({"command": ["sh", "-c", script + ("; exit 3" if fails else "")], "directory": "/",
                            "once": f"job {job}", "slots": 2 if job % 29 == 0 else 1, **({"seconds": 600} if job % 3 == 0 else {})})
        ids += queue.ask("POST", "/v1/entries", {"entries": entries})["ids"]
        yield ids


def fault(queue, draw, counts):
    kinds = ["killed", "stopped", "told to leave"]
    if queue.disks["server"].is_there:
        kinds.append("out of disk")
    if queue.clock:
        kinds.append("clock")
    if os.geteuid() == 0 and STRANGERS_PYTHON:
        kinds.append("stranger")
    kind = draw.choice(kinds)
    if kind == "clock":
        counts["clock set"] += 1
        return queue.clock.step_to(draw.choice([-40 * DAY, -HOUR, 0, HOUR, 40 * DAY, 400 * DAY]))
    if kind == "stranger":
        counts["another user"] += 1
        return queue.let_in_a_stranger(draw.uniform(0.5, 3))
    name = draw.choice([*NODES, "server"])
    what = "server" if name == "server" else "machine"
    counts[f"{what} {kind}"] += 1
    if kind == "out of disk":
        queue.disks[what].fill()
        time.sleep(draw.uniform(0.1, 2))
        if draw.random() < 0.3:
            queue.signal(name, signal.SIGKILL)
            queue.processes[name].wait()
        queue.disks[what].make_room()
        queue.restart_dead()
    elif kind == "killed":
        queue.signal(name, signal.SIGKILL)
        queue.processes[name].wait()
        queue.start(name)
    elif kind == "stopped":
        queue.signal(name, signal.SIGSTOP)
        time.sleep(draw.uniform(0, 2 * LEASE_S) if name != "server" else draw.uniform(0, 1))
        queue.signal(name, signal.SIGCONT)
    else:
        queue.signal(name, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            queue.processes[name].wait(20)
        queue.restart_dead()


def compare(queue, ids, counted, result):
    entries = {e["id"]: e for e in queue.ask("GET", "/v1/entries?state=all")["entries"]}
    with contextlib.closing(sqlite3.connect(f"file:{queue.queue}/queue.db?mode=ro", uri=True)) as store:
        ends = collections.Counter()
        for payload, in store.execute("select payload from events where kind = ?", (ENDED,)):
            entry, state = ended(payload)
            ends[entry] += state in FINAL
    result.twice += len(entries) - len(set(ids)) + (len(ids) - len(set(ids)))
    for job, entry in enumerate(ids):
        e = entries[entry]
        lines = (counted / str(job)).read_text().split() if (counted / str(job)).exists() else []
        given_up = e["state"] == "failed" and e.get("reason", "").startswith("was lost")
        result.given_up += given_up
        result.ended_once += ends[entry] == 1 or given_up
        result.lost += ends[entry] == 0 and not given_up
        result.twice += ends[entry] > 1
        expected = "failed" if job % 17 == 0 else "succeeded"
        wrong = not given_up and (e["state"] != expected or "end" not in lines)
        result.wrong += wrong
        if wrong or given_up or ends[entry] != 1:
            result.complaints.append(f"#{entry}, job {job}: {e['state']} on {e.get('on')}, {e.get('reason')}; it wrote {lines}")
        result.started_again += e.get("losses", 0) > 0
        result.ran_twice += lines.count("end") > 1


def ended(payload):
    """The entry and its state, of [4, id, state, reason] as msgpack has it."""
    assert payload[:2] == b"\x94\x04", payload
    first, rest = payload[2], payload[3:]
    width = {0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}.get(first, 0)
    return (int.from_bytes(rest[:width], "big") if width else first), rest[width]


def run(folder, seed, jobs, faults, every, say):
    """Submits the jobs while faults come, and compares what was recorded with what was done."""
    draw = random.Random(seed)
    folder = pathlib.Path(folder)
    counted = folder / "counted"
    counted.mkdir()
    result, begun = Result(jobs=jobs), time.monotonic()
    queue = Queue(folder)
    try:
        batches, ids = submit(queue, jobs, counted, draw), []
        last_end, left_before = time.monotonic(), None
        while True:
            # The faults meet all of them: the last ones come after the last fault.
            if len(ids) * faults <= sum(result.faults.values()) * (jobs - BATCH):
                ids = next(batches, ids)
            left = len(queue.ask("GET", "/v1/entries")["entries"])
            if left != left_before:
                last_end, left_before = time.monotonic(), left
            elif time.monotonic() > last_end + PATIENCE_S:
                raise Broken(f"{left} jobs wait or run, and none ends")
            if len(ids) == jobs and left == 0:
                break
            if sum(result.faults.values()) < faults:
                fault(queue, draw, result.faults)
                say(f"{len(ids)} jobs, {left} to end, {sum(result.faults.values())} faults")
            queue.restart_dead()
            time.sleep(draw.expovariate(1 / every))
        compare(queue, ids, counted, result)
    except Broken as broken:
        result.broken = str(broken)
    finally:
        queue.end()
        result.leaked = queue.end_strangers()
    result.seconds = time.monotonic() - begun
    return result


def report(result):
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(result.faults.items()))
    return (f"{result.jobs} jobs under {sum(result.faults.values())} faults ({faults}) in {result.seconds:.0f} s:\n"
            f"  {result.ended_once} ended once, {result.lost} lost, {result.twice} twice, {result.wrong} with another end than theirs\n"
            f"  {result.started_again} were started again since their machine was lost, of which {result.ran_twice} had run to "
            f"their end before; {result.given_up} given up\n"
            + "".join(f"  {line}\n" for line in result.complaints)
            + "".join(f"  another user: {line}\n" for line in result.leaked)
            + (f"  broken: {result.broken}\n" if result.broken else ""))
