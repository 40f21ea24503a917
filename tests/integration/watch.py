"""Follows a live run of this machine, by the format that engine/telemetry/wire.hpp describes: watch.py runs/RUN/live"""

import sys
import tomllib

import msgpack
import zmq

events, requests = zmq.Context.instance().socket(zmq.SUB), zmq.Context.instance().socket(zmq.DEALER)
events.subscribe(b"")
events.connect(f"ipc://{sys.argv[1]}/events")
requests.connect(f"ipc://{sys.argv[1]}/requests")


def snapshot():
    requests.send(msgpack.packb(["snapshot"]))
    return msgpack.unpackb(requests.recv())[2]


run = snapshot()
(direction, (metric,)), = tomllib.loads(run["experiment"])["objective"].items()
best = run["best"][0][6] if run["best"] else None
while run["state"] in ("running", "held") and events.poll(3000):  # "alive" comes each second
    topic, place, *record = events.recv_multipart()
    if topic in (b"record", b"alive") and (sequence := msgpack.unpackb(place)[0]) > run["sequence"]:
        if topic == b"alive" or sequence != run["sequence"] + 1:  # something was lost
            run = snapshot()
            continue
        kind, *fields = msgpack.unpackb(record[0])
        run["sequence"] = sequence
        if kind == 3:  # evaluated: [id, outcome, metrics, ...]
            run["evaluated"] += 1
            if fields[0][1] == 0:
                found = [value for name, value in fields[0][2] if name == metric] + ([best] if best is not None else [])
                best = max(found) if direction == "maximize" else min(found)
            print(run["evaluated"], best, flush=True)
        run["state"] = {5: "finished", 6: "paused"}.get(kind, run["state"])
