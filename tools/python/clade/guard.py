"""python guard.py PARENT PROGRAM ARGUMENT...: becomes the program, which gets SIGINT once if the process PARENT dies.

So the search of a notebook whose kernel is killed or started again finishes what is in training, records it, and can be
resumed, as after one Ctrl+C. A process of its own waits for the death of either. (The kernel's signal at a parent's death
is none: it comes for every thread that dies, and a second interrupt stops the search at once.) Broken pipes are not
minded: nobody reads what the program prints after that.
"""

import os
import select
import signal
import sys


def interrupt_when_dead(parent: int, program: int) -> None:
    """Waits for the end of one of two processes, of which it has descriptors; the program is interrupted if it is left."""
    ended = select.poll()
    ended.register(parent, select.POLLIN)
    ended.register(program, select.POLLIN)
    if not any(descriptor == program for descriptor, _ in ended.poll()):
        signal.pidfd_send_signal(program, signal.SIGINT)


def main() -> None:
    """Leaves a process that watches, and becomes the program."""
    number, command = int(sys.argv[1]), sys.argv[2:]
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        parent, program = os.pidfd_open(number), os.pidfd_open(os.getpid())
    except ProcessLookupError:
        sys.exit(130)
    if os.getppid() != number:  # It died before it could be watched.
        sys.exit(130)
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        os.execv(command[0], command)
    if os.fork():  # The watching process is no child of the program, which waits for its own.
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    interrupt_when_dead(parent, program)


if __name__ == "__main__":
    main()
