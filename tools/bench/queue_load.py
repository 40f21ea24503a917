#!/usr/bin/env python3
"""How fast a queue takes submissions, how fast it lists ten thousand that wait, and how fast a thousand of these are cancelled.

usage: tools/bench/queue_load.py CLADE       the program; it serves a queue in a new folder below this one
"""

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


def main(program):
    with tempfile.TemporaryDirectory(dir=pathlib.Path.cwd()) as folder:
        queue = pathlib.Path(folder, "queue")
        with subprocess.Popen([program, "serve", queue, "--slots", "1"], stdout=subprocess.PIPE, text=True) as server:
            try:
                server.stdout.readline()
                measure(program, queue)
            finally:
                server.terminate()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
