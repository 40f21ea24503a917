"""Follows a live run of this machine, by the format that engine/telemetry/picture/wire.hpp describes: watch.py runs/RUN/live"""

import sys
import tomllib

import msgpack
import zmq

context = zmq.Context.instance()
events, requests = context.socket(zmq.SUB), context.socket(zmq.DEALER)
events.subscribe(b"")
events.connect(f"ipc://{sys.argv[1]}/events")
requests.connect(f"ipc://{sys.argv[1]}/requests")


def snapshot():
    requests.send(msgpack.packb(["snapshot"]))
    picture = msgpack.unpackb(requests.recv())[2]
    return picture | {"fitness": [line[6] for line in picture["best"]]}


run = snapshot()
(direction, (metric,)), = tomllib.loads(run["experiment"])["objective"].items()
while run["state"] in ("running", "held") and events.poll(60_000):  # "alive" comes each second
    topic, place, *record = events.recv_multipart()
    sequence = msgpack.unpackb(place)[0] if topic in (b"record", b"alive") else 0
    if sequence > run["sequence"] + (topic == b"record"):  # something was lost
        run = snapshot()
    elif sequence > run["sequence"]:
        (kind, *fields), run["sequence"] = msgpack.unpackb(record[0]), sequence
        if kind == 3:  # evaluated: [id, outcome, metrics, ...]
            run["fitness"] += [value for name, value in fields[0][2] if name == metric and fields[0][1] == 0]
            run["evaluated"] += 1
            print(run["evaluated"], (max if direction == "maximize" else min)(run["fitness"], default=None), flush=True)
        run["state"] = {5: "finished", 6: "paused"}.get(kind, run["state"])
