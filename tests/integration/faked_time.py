"""Processes whose wall clock is wrong, by Debian's libfaketime; what measures how long something takes is left alone."""

import glob
import os
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
