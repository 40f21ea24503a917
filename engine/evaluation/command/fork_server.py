"""Loads modules once, then forks a process of this Python for each candidate's script: Clade's preload.

    python3 -c THIS LINE MODULE...

LINE is the number of a socket. An order has four descriptors: a file of words, each ended by a zero (the directory, how
many arguments there are, they, then NAME=value), and standard input, output and errors. It is answered with the wait
status of the process, an int. With the first order the modules are loaded, so that an error in them is that order's.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import os
import runpy
import signal
import socket
import struct
import sys
import threading


def next_order():
    _, files, _, _ = socket.recv_fds(line, 1, 4)
    if not files:
        os._exit(0)
    with open(files[0], "rb") as file:
        directory, count, *words = map(os.fsdecode, file.read().split(b"\0")[:-1])
    variables = dict(word.split("=", 1) for word in words[int(count):])
    return directory, words[:int(count)], variables, files[1:]


def enter(directory, variables, files):
    os.chdir(directory)
    os.environ.clear()
    os.environ.update({**surroundings, **variables})
    set_streams(files)


def set_streams(files):
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)


def show_error(error):
    """Shows the error as if the script had been run by itself."""
    trace = error.__traceback__
    while trace is not None and os.path.basename(trace.tb_frame.f_code.co_filename) in (
            "<string>", "<frozen runpy>", "runpy.py"):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def preload(modules):
    for module in modules:
        importlib.import_module(module)
    sys.stdout.flush()
    sys.stderr.flush()
    set_streams([os.open(os.devnull, os.O_RDWR) for _ in range(3)])
    gc.collect()
    gc.freeze()  # So that the processes share what is loaded.


def run(arguments):
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # Else all candidates would draw the same numbers.
    is_module = arguments[0] == "-m"
    sys.argv = arguments[is_module:]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.realpath(arguments[0]))
    if is_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


def status_of(work):
    """The exit status of a Python that does this."""
    try:
        work()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xff
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        show_error(error)
        return 1
    return 0


def leave(status):
    """Does what the end of a Python does, but for taking down what was loaded: that takes longer than many scripts."""
    status_of(threading._shutdown)
    status_of(atexit._run_exitfuncs)
    for one in gc.get_objects():
        if issubclass(type(one), io.IOBase):
            with contextlib.suppress(OSError, ValueError):  # A file that nobody closes tells nobody.
                one.flush()
    try:
        for stream in (sys.__stdout__, sys.__stderr__):
            stream.flush()
    except OSError:
        status = status or 120  # Python has the same status.
    except ValueError:
        pass  # The script has closed or detached it.
    ctypes.CDLL(None).exit(status)


line = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # It is for the candidate, which is in the same group.
order = next_order()
surroundings = {name: value for name, value in os.environ.items() if name not in order[2]}
enter(order[0], order[2], [os.dup(file) for file in order[3]])
preload(sys.argv[2:])
while True:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    child = os.fork()
    if child == 0:
        break
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    for file in order[3]:
        os.close(file)
    line.send(struct.pack("i", os.waitpid(child, 0)[1]))
    order = next_order()
line.close()
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
enter(order[0], order[2], order[3])
leave(status_of(lambda: run(order[1])))
