"""A search that is going on: the process of the program, and the events that it prints."""

from __future__ import annotations

import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

from clade.program import check_torch, environment, failure, find_program

Event = dict[str, Any]
GUARD = pathlib.Path(__file__).with_name("guard.py")
INTERRUPTED = (130, -signal.SIGINT)  # The second where the program had only begun to start.


class Session:
    """One `clade ... --json` process.

    It has a process group of its own, so that a Ctrl+C in the terminal or the stop button of a notebook reaches it only
    through `interrupt`. If this Python dies, the process is interrupted once, and drains.
    """

    def __init__(self, *words: object) -> None:
        program = find_program()
        check_torch(program)
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._err = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.evaluations: int | None = None
        """How many networks the search will evaluate, as far as the program has said so."""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), str(os.getpid()), program, *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._err, text=True, encoding="utf-8",
            start_new_session=True, env=environment(program))
        self._thread = threading.Thread(target=self._follow, name="clade", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if line.startswith("{"):
                    event = json.loads(line)
                    self.evaluations = event.get("evaluations", self.evaluations)
                    self._events.put(event)
        self._process.wait()
        self._events.put(None)

    @property
    def pid(self) -> int:
        """Process number of the program."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the program is still at work."""
        return self._thread.is_alive()

    def interrupt(self) -> None:
        """Sends what Ctrl+C sends: once, what is in training is finished; twice, the program stops at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def events(self, tick: float | None = None) -> Iterator[Event | None]:
        """Yields each event until the program ends, and None after `tick` seconds without one."""
        while True:
            try:
                event = self._events.get(timeout=tick)
            except queue.Empty:
                yield None
                continue
            if event is None:
                self._events.put(None)  # For whoever asks again.
                return
            yield event

    def finish(self) -> None:
        """Waits for the end; raises CladeError with what the program said if it failed."""
        self._thread.join()
        status = self._process.returncode
        with self._err:
            if status != 0 and status not in INTERRUPTED:
                self._err.seek(0)
                raise failure(status, self._err.read())
