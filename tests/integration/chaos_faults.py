"""The faults that tools/chaos does to a search, in any moment: each fault is a row of FAULTS, and returns what it
hit."""

import contextlib
import dataclasses
import os
import resource
import signal
import socket
import ssl
import time
import typing

from chaos_cluster import WORKERS
from hosts import program


def send(pid, number):
    """Whether there was somebody to get it."""
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def host_of(slot):
    return slot.partition("/")[0] if "/" in slot else "head"


def kill_nodes(cluster, draw):
    """By SIGKILL, or by a signal that a process also ends by for a fault of its own."""
    nodes = cluster.nodes()
    victims = draw.sample(sorted(nodes), min(len(nodes), draw.choice((1, 1, 2, 3, 6))))
    number = draw.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS))
    cluster.disturb(victims)
    return [host_of(slot) for slot in victims if send(nodes[slot].pid, number)]


def stop_node(cluster, draw):
    nodes = cluster.nodes()
    if not nodes:
        return []
    victim = draw.choice(sorted(nodes))
    cluster.disturb([victim])
    return [host_of(victim)] if send(nodes[victim].pid, signal.SIGSTOP) else []


def stop_and_continue_node(cluster, draw):
    """For longer than its lease, or for less."""
    nodes = cluster.nodes()
    if not nodes:
        return []
    victim = draw.choice(sorted(nodes))
    pid, seconds = nodes[victim].pid, draw.uniform(0.2, 8)
    cluster.disturb(seconds=seconds)
    cluster.later(seconds, lambda: send(pid, signal.SIGCONT))
    return [host_of(victim)] if send(pid, signal.SIGSTOP) else []


def kill_worker(cluster, draw):
    victim = draw.choice(("head", *WORKERS))
    cluster.disturb(cluster.slots_of(victim))
    cluster.ended.add(victim)
    return [victim] if send(cluster.worker_pid(victim), signal.SIGKILL) else []


def drain_worker(cluster, draw):
    victim = draw.choice(WORKERS)
    cluster.disturb(cluster.slots_of(victim))
    cluster.ended.add(victim)
    return [victim] if send(cluster.worker_pid(victim), signal.SIGTERM) else []


def kill_head(cluster, draw):
    cluster.kill_head(draw.uniform(0, 1.5))
    return ["head"]


def stop_head(cluster, draw):
    seconds = draw.uniform(0.1, 3)
    head = cluster.head
    head.send_signal(signal.SIGSTOP)
    cluster.disturb(seconds=seconds)
    cluster.later(seconds, lambda: head.poll() is None and head.send_signal(signal.SIGCONT))
    return ["head"]


def cut_link(cluster, draw):
    victim = draw.choice(WORKERS)
    if cluster.recently_cut.get(victim, 0) > time.time():
        return []
    seconds = 0.2 + 7.8 * draw.random() ** 2
    host = cluster.network[victim]
    host.cut()
    cluster.disturb(seconds=seconds)
    cluster.recently_cut[victim] = time.time() + seconds + 3
    cluster.later(seconds, host.heal)
    return [victim]


def lose_packets(cluster, draw):
    victim = draw.choice(WORKERS)
    if victim in cluster.lossy:
        return []
    seconds = draw.uniform(1, 4)
    host = cluster.network[victim]
    host.lose(20)
    cluster.lossy.add(victim)
    cluster.disturb(seconds=seconds)

    def lose_none():
        host.network.switch.run(program("nft", "nftables"), "delete", "chain", "bridge", "losses", host.port)
        cluster.lossy.discard(victim)

    cluster.later(seconds, lose_none)
    return [victim]


def slow_link(cluster, draw):
    victim = draw.choice(WORKERS)
    if victim in cluster.slow:
        return []
    seconds = draw.uniform(1, 6)
    host = cluster.network[victim]
    host.slow(draw.choice(("1mbit", "4mbit")))
    cluster.slow.add(victim)
    cluster.disturb(seconds=seconds)

    def slow_no_more():
        host.slow_no_more()
        cluster.slow.discard(victim)

    cluster.later(seconds, slow_no_more)
    return [victim]


def fill_disk(cluster, draw):
    """No file of the head may grow beyond a few pages: what a full disk says, without filling one."""
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(cluster.head.pid, resource.RLIMIT_FSIZE, (4096 * draw.randint(1, 8), resource.RLIM_INFINITY))
        cluster.full = True
    return []  # It counts when the head met it.


def fill_disk_of_worker(cluster, draw):
    """For a while, no file of its nodes may grow beyond a few pages."""
    victim = draw.choice(("head", *WORKERS))
    nodes, slots = cluster.nodes(), cluster.slots_of(victim)
    pids = [nodes[slot].pid for slot in slots if slot in nodes]
    pages, seconds = draw.randint(0, 8), draw.uniform(0.5, 6)

    def limit(size):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    limit(4096 * pages)
    cluster.disturb(seconds=seconds)
    cluster.later(seconds, lambda: limit(resource.RLIM_INFINITY))
    return [victim] if pids else []


def knock(cluster, words, keys=None, patience=1.0):
    """Says that to the head's port, through TLS if there are keys."""
    def say():
        with contextlib.suppress(OSError), socket.create_connection(cluster.address, timeout=patience) as plain:
            channel = plain
            if keys is not None:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                if keys:
                    context.load_cert_chain(keys / "cert.pem", keys / "key.pem")
                channel = context.wrap_socket(plain)
            with channel:
                channel.sendall(words)
                channel.recv(1)
    cluster.strangers.submit(say)
    return ["head"]


GARBAGE = (b"GET / HTTP/1.0\r\n\r\n", bytes(range(256)) * 400, b"\x16\x03\x01\xff\xff" + b"\0" * 70_000, b"\0" * 100)


def send_garbage(cluster, draw):
    return knock(cluster, draw.choice(GARBAGE), draw.choice((None, "", cluster.folder / "keys")))


def half_open(cluster, draw):
    """Connections that say nothing, or half of a greeting, and stay."""
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    seconds = draw.uniform(0.5, 6)

    def connect():
        for words in (b"", hello[:draw.randint(1, len(hello))]):
            with contextlib.suppress(OSError):
                stranger = socket.create_connection(cluster.address, timeout=1)
                stranger.sendall(words)
                cluster.later(seconds, stranger.close)
    cluster.strangers.submit(connect).result()
    return ["head"]


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    act: typing.Callable
    weight: float
    link: bool = False  # Needs hosts of their own.
    teams: bool = False  # Is one for trainings that several slots share.


FAULTS = (
    Fault("node killed", kill_nodes, 10),
    Fault("node stopped until killed", stop_node, 0.5),
    Fault("node stopped up to 8 s", stop_and_continue_node, 2),
    Fault("worker killed", kill_worker, 2),
    Fault("worker drained (SIGTERM)", drain_worker, 2),
    Fault("head killed and resumed", kill_head, 1.5),
    Fault("head stopped up to 3 s", stop_head, 2),
    Fault("link down 0.2 to 8 s", cut_link, 3, link=True),
    Fault("20 % of packets lost", lose_packets, 1.5, link=True),
    Fault("link of 1 to 4 Mbit/s", slow_link, 1.5, link=True),
    Fault("disk is full", fill_disk, 0.6),
    Fault("disk of a worker is full", fill_disk_of_worker, 2, teams=True),
    Fault("garbage at the port", send_garbage, 1.5),
    Fault("half-open connections", half_open, 1.5),
)


def inject(cluster, draw):
    """One fault: its name and the hosts that it hit."""
    fitting = [f for f in FAULTS if (cluster.network or not f.link) and (cluster.teams or not f.teams)]
    fault = draw.choices(fitting, [f.weight for f in fitting])[0]
    return fault.name, fault.act(cluster, draw)
