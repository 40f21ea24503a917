"""tools/chaos --only queue: short jobs in a queue of several machines, whose server and machines are killed, stopped and
told to leave. Every job comes to one recorded end, and none is lost."""

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

from live_runs import CLADE

LEASE_S = 2
NODES = {"alpha": 2, "beta": 2, "gamma": 2}
BATCH = 50
PATIENCE_S = 120  # Without any end.
FINAL = (4, 5, 6)  # entry_state: succeeded, failed, cancelled
ENDED = 4  # kind of event
LOST_TOO_OFTEN = 5


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
    ran_twice: int = 0  # Those that did.
    given_up: int = 0  # Lost five times.
    seconds: float = 0
    broken: str = ""

    @property
    def clean(self):
        return not (self.lost or self.twice or self.wrong or self.broken)


class Queue:
    """A server with two slots of its own and three machines of two, each a process of this host."""

    def __init__(self, folder):
        self.folder = folder
        self.queue = folder / "queue"
        self.processes = {}
        self.log = open(folder / "said", "a")
        self.start("server")
        self.clade("serve", self.queue, "--add-user", "lab", "--role", "worker")
        for node in NODES:
            shutil.copytree(self.queue / "users" / "lab", folder / node)
            self.start(node)

    def clade(self, *words):
        subprocess.run([CLADE, *map(str, words)], check=True, stdout=subprocess.DEVNULL)

    def start(self, name):
        if name == "server":
            words = ["serve", self.queue, "--slots", "2", "--lease", f"{LEASE_S}s"]
        else:
            words = ["worker", "--queue", self.folder / name, "--name", name, "--slots", str(NODES[name]), "--grace", "5s"]
        self.processes[name] = subprocess.Popen([CLADE, *map(str, words)], stdin=subprocess.DEVNULL, stdout=self.log,
                                                stderr=self.log, start_new_session=True)
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

    def end(self):
        for what in (signal.SIGCONT, signal.SIGKILL):
            for name in self.processes:
                self.signal(name, what)
        for process in self.processes.values():
            process.wait()
        self.log.close()


def submit(queue, jobs, counted, draw):
    """In batches, each again until it is answered: a word of its own keeps a job from being submitted twice."""
    ids = []
    for first in range(0, jobs, BATCH):
        entries = []
        for job in range(first, min(first + BATCH, jobs)):
            fails = job % 17 == 0
            script = f"echo begin >>{counted}/{job}; sleep {draw.uniform(0.02, 0.3):.2f}; echo end >>{counted}/{job}"
            entries.append({"command": ["sh", "-c", script + ("; exit 3" if fails else "")], "directory": "/",
                            "once": f"job {job}", "slots": 2 if job % 29 == 0 else 1})
        ids += queue.ask("POST", "/v1/entries", {"entries": entries})["ids"]
        yield ids


def fault(queue, draw, counts):
    name = draw.choice([*NODES, "server"])
    kind = draw.choice(["killed", "stopped", "told to leave"])
    counts[f"{'server' if name == 'server' else 'machine'} {kind}"] += 1
    if kind == "killed":
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
        given_up = e.get("losses", 0) >= LOST_TOO_OFTEN
        result.given_up += given_up
        result.ended_once += ends[entry] == 1 or given_up
        result.lost += ends[entry] == 0 and not given_up
        result.twice += ends[entry] > 1
        expected = "failed" if job % 17 == 0 else "succeeded"
        result.wrong += not given_up and (e["state"] != expected or "end" not in lines)
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
    result.seconds = time.monotonic() - begun
    return result


def report(result):
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(result.faults.items()))
    return (f"{result.jobs} jobs under {sum(result.faults.values())} faults ({faults}) in {result.seconds:.0f} s:\n"
            f"  {result.ended_once} ended once, {result.lost} lost, {result.twice} twice, {result.wrong} with another end than theirs\n"
            f"  {result.started_again} were started again since their machine was lost, of which {result.ran_twice} had run to "
            f"their end before; {result.given_up} given up\n"
            + (f"  broken: {result.broken}\n" if result.broken else ""))
