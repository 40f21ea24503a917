"""Processes whose wall clock is wrong, by Debian's libfaketime; what measures how long something takes is left alone."""

import glob
import mmap
import os
import struct
import unittest

LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1")


def library():
    if "ASAN_OPTIONS" in os.environ:
        raise unittest.SkipTest("libfaketime cannot start beside AddressSanitizer, whose own readings of the clock it catches")
    found = [file for pattern in LIBRARIES for file in glob.glob(pattern)]
    if not found:
        raise unittest.SkipTest("no libfaketime on this machine: tools/test installs it on Debian")
    return found[0]


def faked_time(offset):
    """The environment of a process whose clock is off, such as by "-400d"."""
    return {"LD_PRELOAD": library(), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


class JumpingTime:
    """A clock that several processes have, and that jumps when it is told to."""

    def __init__(self, folder):
        self.file = folder / "faketime"
        self.jump_to(0)
        self.environment = {"LD_PRELOAD": library(), "FAKETIME_TIMESTAMP_FILE": str(self.file),
                            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def jump_to(self, seconds):
        """So far from the true time."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        fresh.rename(self.file)


class SteppedClock:
    """A wall clock that processes read, and that no wait of theirs follows (tests/integration/stepped_clock.cpp)."""

    def __init__(self, folder):
        if "ASAN_OPTIONS" in os.environ:
            raise unittest.SkipTest("AddressSanitizer must be preloaded before anything else")
        file = folder / "clock"
        file.write_bytes(bytes(8))
        with file.open("r+b") as opened:
            self.memory = mmap.mmap(opened.fileno(), 8)
        self.environment = {"LD_PRELOAD": os.environ["CLADE_STEPPED_CLOCK"], "CLADE_TEST_CLOCK": str(file)}

    def step_to(self, seconds):
        """So far from the true time."""
        self.memory[:] = struct.pack("=q", seconds * 1_000_000_000)
