#!/usr/bin/env python3
"""How fast a queue takes submissions, how fast it lists ten thousand that wait, how fast a thousand of these are cancelled, and how fast
short commands run on two slots of the server's machine and of another one.

usage: tools/bench/queue_load.py CLADE       the program; it serves a queue in a new folder below this one
"""

import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

WAITING = 10_000
CALLS = 15
SHORT = 500


def post(address, token, entries):
    request = urllib.request.Request(address + "/v1/entries", data=json.dumps({"entries": entries}).encode(),
                                     headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["ids"]


def seconds(call):
    """The median and the longest."""
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times), max(times)


def measure(program, queue):
    address, token = ((queue / name).read_text().strip() for name in ("address", "token"))
    post(address, token, [{"command": ["sleep", "3600"], "directory": "/"}])  # All others wait for its slot.
    task = {"command": ["python3", "train.py", "--lr", "0.01"], "directory": "/"}
    waiting = 0
    for batch, batches in ((1, 2000), (10, 20), (100, 8), (1000, 7)):
        begun = time.perf_counter()
        for _ in range(batches):
            waiting += len(post(address, token, [task] * batch))
        took = time.perf_counter() - begun
        print(f"submitted in batches of {batch}: {batch * batches / took:.0f}/s")
    assert waiting == WAITING, waiting
    for words in (["get"], ["get", "17"], ["top"]):
        def call(words=words):
            subprocess.run([program, *words, "--queue", queue], check=True, stdout=subprocess.DEVNULL)
        print("clade {}: median {:.0f} ms, longest {:.0f} ms".format(" ".join(words), *(1000 * s for s in seconds(call))))
    request = urllib.request.Request(address + "/v1/entries", headers={"Authorization": f"Bearer {token}"})
    print("GET /v1/entries: median {:.0f} ms, longest {:.0f} ms".format(
        *(1000 * s for s in seconds(lambda: urllib.request.urlopen(request).read()))))
    begun = time.perf_counter()
    subprocess.run([program, "cancel", *map(str, range(2, 1002)), "--queue", queue], check=True, stdout=subprocess.DEVNULL)
    print(f"clade cancel of 1,000: {time.perf_counter() - begun:.2f} s")


@contextlib.contextmanager
def started(*words):
    """A program that says a line once it is there, until the end of the block."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            yield
        finally:
            process.terminate()


def run_short(program, queue, where):
    address, token = ((queue / name).read_text().strip() for name in ("address", "token"))
    begun = time.perf_counter()
    ids = post(address, token, [{"command": ["true"], "directory": "/"}] * SHORT)
    subprocess.run([program, "wait", *map(str, ids), "--queue", queue], check=True, stdout=subprocess.DEVNULL)
    print(f"{SHORT} commands that end at once, on two slots {where}: {SHORT / (time.perf_counter() - begun):.0f}/s")


def main(program):
    with tempfile.TemporaryDirectory(dir=pathlib.Path.cwd()) as folder:
        full, own, others = (pathlib.Path(folder, name) for name in ("full", "own", "others"))
        with started(program, "serve", full, "--slots", "1"):
            measure(program, full)
        with started(program, "serve", own, "--slots", "2"):
            run_short(program, own, "of the server's machine")
        with started(program, "serve", others, "--slots", "none"):
            subprocess.run([program, "serve", others, "--add-user", "lab", "--role", "worker"], check=True, stdout=subprocess.DEVNULL)
            with started(program, "worker", "--queue", others / "users" / "lab", "--name", "rome", "--slots", "2"):
                run_short(program, others, "of another process")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
