"""Daemons that tests start themselves: unpacked by tools/setup into build/daemons, or installed on this machine. None
of them runs as a service, none reads a file of /etc, and each dies with the process that started it."""

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import unittest

FOLDER = pathlib.Path(os.environ.get("CLADE_TEST_DAEMONS", "/nonexistent"))
PR_SET_PDEATHSIG = 1
PATIENCE_S = 60

LIBC = ctypes.CDLL(None)


def libraries():
    """Folders of build/daemons where the loader finds what an unpacked program needs."""
    return [str(folder) for base in ("lib", "usr/lib") for pattern in ("*-linux-gnu", "*-linux-gnu/slurm-wlm")
            for folder in FOLDER.glob(f"{base}/{pattern}")]


def environment():
    """Returns the environment that a process needs to use unpacked programs."""
    found = {"PATH": f"{FOLDER}/usr/bin:{FOLDER}/usr/sbin:{os.environ['PATH']}:/usr/sbin"}
    former = os.environ.get("LD_LIBRARY_PATH")
    found["LD_LIBRARY_PATH"] = ":".join(libraries() + ([former] if former else []))
    return found


def program(*names):
    """The file of the first of these that there is; skips the test where there is none."""
    for name in names:
        if found := shutil.which(name, path=environment()["PATH"]):
            return found
    raise unittest.SkipTest(f"no {names[0]} on this machine: tools/test unpacks it on Debian")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Daemon:
    """A process that is there until it is told to end."""

    def __init__(self, words, log, **environment):
        self.log = pathlib.Path(log)
        parent = os.getpid()

        def prepare():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env={**os.environ, **environment}, preexec_fn=prepare, start_new_session=True)

    def check(self):
        """Fails the test if it has ended."""
        if self.process.poll() is not None:
            said = self.log.read_text(errors="replace")
            raise AssertionError(f"{self.process.args[0]} ended with status {self.process.returncode}:\n{said}")

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
