"""The parts that tests of whole runs share: experiments in a folder of their own, clade processes that never outlive
their test, and what a run's store and /proc say of it.

Nothing here sleeps until something has probably happened: a condition is awaited, and what never comes fails the test
with a sentence. Every process dies with this one, so that an interrupted test leaves nothing behind either.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import random
import resource
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest

CLADE = os.environ["CLADE_BINARY"]
SMALL_SPACE = pathlib.Path(__file__).resolve().parent / "small_space.toml"

# No step of any test takes a tenth of this where nothing is wrong.
PATIENCE_S = 60
PR_SET_PDEATHSIG = 1

LIBC = ctypes.CDLL(None)

undisturbed_digests = {}  # by the text of the experiment

EXPERIMENT = """
[experiment]
name = "{name}"
seed = 7
fitness = "synthetic"
[data]
shape = [1, 8, 8]
classes = 10
[search_space]
file = "{space}"
[evolution]
strategy = {strategy}
population = {population}
generations = {generations}
[synthetic]
epochs = 2
duration = "{duration}"
{misbehaviour}
[limits]
{limits}
"""


def ports_of_a_publisher():
    """The first of three that are free."""
    for port in random.sample(range(20000, 32000), 200):
        with contextlib.suppress(OSError), contextlib.ExitStack() as taken:
            for p in range(port, port + 3):
                taken.enter_context(socket.create_server(("127.0.0.1", p)))
            return port
    raise AssertionError("no three free ports")


def await_true(condition, what):
    """Returns the first true value of `condition()`."""
    deadline = time.monotonic() + PATIENCE_S
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE_S} s in vain: {what}")
        time.sleep(0.001)
    return value


def await_end(pid):
    """Waits for the end of a process that need not be ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(PATIENCE_S * 1000):
            raise AssertionError(f"process {pid} did not end within {PATIENCE_S} s")
    finally:
        os.close(descriptor)


# Tests do not look into the folder in which a person keeps runs.
os.environ.pop("CLADE_RUNS", None)


def environment_of_commands():
    """Returns our environment; but LeakSanitizer stops its process by ptrace, and never ends if SIGCONT comes
    meanwhile, which a head sends to its worker at the end: leaks are for the tests without processes."""
    if "ASAN_OPTIONS" not in os.environ:
        return dict(os.environ)
    return {**os.environ, "ASAN_OPTIONS": os.environ["ASAN_OPTIONS"] + ":detect_leaks=0"}


class Process:
    """A process of /proc, as it was when it was looked at."""

    def __init__(self, pid):
        self.pid = pid
        folder = pathlib.Path("/proc", str(pid))
        self.words = (folder / "cmdline").read_text(errors="replace").split("\0")[:-1]
        # "pid (name) state parent ...", where the name may hold anything.
        self.parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])

    @property
    def role(self):
        return self.words[1] if len(self.words) > 1 else ""

    def option(self, name):
        return self.words[self.words.index(name) + 1]


def processes_of(folder):
    """All processes that name something in this folder on their command line."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            process = Process(int(entry))
        except (FileNotFoundError, ProcessLookupError):
            continue  # It ended meanwhile.
        if any(str(folder) in word for word in process.words):
            found.append(process)
    return found


class Command:
    """A clade process, on this host or on one of `hosts.Network`; its output goes to files, so that nobody has to read
    for it to go on."""

    def __init__(self, test, words, file_size=None, descriptors=None, address_space=None, environment=None, host=None,
                 out=None, closed=(), user=None):
        """`out`: where its standard output goes instead; `closed`: the standard streams that it does not have;
        `user`: whose it is, where that is not us."""
        self.test = test
        self.output = tempfile.TemporaryFile("w+", dir=test.folder)
        self.errors = tempfile.TemporaryFile("w+", dir=test.folder)
        parent = os.getpid()

        def prepare():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            if file_size is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, resource.RLIM_INFINITY))
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
            if address_space is not None:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
            if host is not None:
                host.enter()
            for stream in closed:
                os.close(stream)
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)

        self.process = subprocess.Popen(
            [CLADE, *map(str, words)], stdin=subprocess.DEVNULL, stdout=self.output if out is None else out, stderr=self.errors,
            cwd=test.folder, env={**environment_of_commands(), "CLADE_RUNS": str(test.runs), **(environment or {})},
            preexec_fn=prepare, start_new_session=True)
        self.pid = self.process.pid

    def end(self, patience_s=PATIENCE_S):
        """Waits for its end, and returns its status."""
        try:
            return self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"clade did not end within {patience_s} s; it wrote:\n{self.said()}") from None

    def kill(self):
        self.process.kill()
        return self.process.wait(PATIENCE_S)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    @property
    def running(self):
        return self.process.poll() is None

    @staticmethod
    def written_to(file):
        """Opened again, since the place where the process writes next is that of its description."""
        with open(f"/proc/self/fd/{file.fileno()}", encoding="utf-8", errors="replace") as written:
            return written.read()

    @property
    def out(self):
        return self.written_to(self.output)

    @property
    def err(self):
        return self.written_to(self.errors)

    def said(self):
        return self.out + self.err

    def close(self):
        if self.running:
            self.kill()
        self.output.close()
        self.errors.close()


class RunTest(unittest.TestCase):
    """A test with a folder, whose processes have all ended when it has, and whose runs are all provably what their
    seeds say."""

    # True for a test that damages stores, or makes what looks like one: `clade replay --verify` has nothing to hold on
    # to.
    falsifies_runs = False

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clade-test-"))
        self.runs = self.folder / "runs"
        self.commands = []

    def tearDown(self):
        still_there = [c for c in self.commands if c.running]
        for command in self.commands:
            command.close()
        try:
            self.assert_nothing_left()
            self.assertEqual(still_there, [], "the test did not wait for all of its commands")
            if not self.falsifies_runs:
                self.assert_runs_verify()
        finally:
            for process in processes_of(self.folder):
                os.kill(process.pid, signal.SIGKILL)
                await_end(process.pid)
            shutil.rmtree(self.folder)

    def assert_runs_verify(self):
        """Every decision that these runs have recorded is what seed and records make of it again."""
        for file in sorted(self.folder.rglob("run.db")):
            if not file.is_file() or not self.records_of(file):
                continue  # It was killed before it had begun.
            verified = subprocess.run([CLADE, "replay", file, "--verify"], capture_output=True, text=True, check=False,
                                      timeout=PATIENCE_S)
            self.assertEqual(verified.returncode, 0, f"{file}: {verified.stdout}{verified.stderr}")
            self.assertIn("decisions equal", verified.stdout)
            self.assert_store_is_whole(file)
            self.assert_final_model_is_not_behind(file)

    def assert_store_is_whole(self, file):
        """So says `clade check`, and a repair finds nothing to do."""
        for words, said in ((), "SQLite finds no fault"), (("--repair",), "nothing to repair"):
            checked = subprocess.run([CLADE, "check", file, *words], capture_output=True, text=True, check=False,
                                     timeout=PATIENCE_S)
            self.assertEqual(checked.returncode, 0, f"{file}: {checked.stdout}{checked.stderr}")
            self.assertIn(said, checked.stdout)

    def assert_final_model_is_not_behind(self, file):
        """By the objective, on the validation part, no single model of the run is ahead of the final one; unless
        cross-validation decided, as it does among few examples."""
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=PATIENCE_S)) as store:
            models = {subject: json.loads(metrics) for subject, metrics in
                      store.execute("select subject, metrics from examinations")}
            several = store.execute("select count(*) from sqlite_master where name = 'aims'").fetchone()[0]
            if "final model" not in models or several:
                return
            metric, maximize, champion = store.execute(
                "select metric, maximize, fitness from runs, progress join evaluations on id = champion").fetchone()
        crossed = metric.replace("validation.", "cross_validation.", 1)
        if any(crossed in model["metrics"] for model in self.ranked_models(file)):
            return
        sign = 1 if maximize else -1
        final = sign * models["final model"][metric]
        singles = {subject: models[subject].get(metric) for subject in ("linear model", "boosted trees") if subject in models}
        for subject, value in {"champion": champion, **singles}.items():
            if value is not None:
                self.assertGreaterEqual(final + 1e-6 * abs(final), sign * value, f"{file}: behind the {subject}")

    @staticmethod
    def ranked_models(file):
        """Returns the models that the final one was chosen from."""
        shown = subprocess.run([CLADE, "show", file, "--json"], capture_output=True, text=True, check=True, timeout=PATIENCE_S)
        return json.loads(shown.stdout)["end"]["final_model"]["models"]

    @staticmethod
    def records_of(file):
        store = sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=PATIENCE_S)
        try:
            return store.execute("select count(*) from records").fetchone()[0]
        except sqlite3.OperationalError:
            return 0  # Without tables: it was killed while it was made.
        finally:
            store.close()

    def assert_nothing_left(self):
        """No process of these runs is there. One that was just killed may take its moment."""
        for process in processes_of(self.folder):
            await_end(process.pid)
        self.assertEqual([p.words for p in processes_of(self.folder)], [])

    def write_experiment(self, population=16, generations=4, duration="4ms", misbehaviour="", limits="",
                         name="toy", space=SMALL_SPACE, strategy='"generational"'):
        """`strategy`: as in TOML; more lines of [evolution] may follow."""
        file = self.folder / f"{name}.toml"
        file.write_text(EXPERIMENT.format(name=name, space=space, population=population, generations=generations,
                                          duration=duration, misbehaviour=misbehaviour, limits=limits,
                                          strategy=strategy))
        return file

    def start(self, *words, **limits):
        command = Command(self, words, **limits)
        self.commands.append(command)
        return command

    def finish(self, *words, status=0):
        """Runs a command to its end, and returns it."""
        command = self.start(*words)
        self.assertEqual(command.end(), status, command.said())
        return command

    def run_folder(self):
        """Returns the folder of the only run; once it is there."""
        def only():
            return list(self.runs.glob("*/run.db")) if self.runs.exists() else []
        found = await_true(only, "no run was made")
        self.assertEqual(len(found), 1, found)
        return found[0].parent

    def show(self, *words):
        return json.loads(self.finish("show", self.run_folder(), "--json", *words).out)

    def digest(self):
        return self.show()["digest"]

    def assert_undisturbed(self, file):
        """Checks that the only run decided what a run of that experiment decides to which nothing happens."""
        digest = self.digest()
        text = file.read_text()
        if text not in undisturbed_digests:
            self.run_folder().rename(self.folder / "disturbed")
            self.finish("run", file, "--slots", "2")
            undisturbed_digests[text] = self.digest()
        self.assertEqual(digest, undisturbed_digests[text])

    def query(self, sql, *values):
        """Rows of the store, which is not written."""
        store = sqlite3.connect(f"file:{self.run_folder()}/run.db?mode=ro", uri=True, timeout=PATIENCE_S)
        try:
            return store.execute(sql, values).fetchall()
        finally:
            store.close()

    def count(self, sql, *values):
        return self.query(sql, *values)[0][0]

    def await_count(self, sql, least, command):
        """Until a running command's store counts so many."""
        def counted():
            if not command.running:
                raise AssertionError(f"clade ended before {sql} gave {least}:\n{command.said()}")
            try:
                return self.count(sql) >= least
            except sqlite3.OperationalError as error:
                if "no such table" in str(error) or "unable to open" in str(error):
                    return False  # The store is being made.
                raise
        await_true(counted, f"{sql} never gave {least}")

    def await_records(self, least, command):
        self.await_count("select count(*) from records", least, command)

    def await_evaluations(self, least, command):
        self.await_count("select count(*) from evaluations", least, command)

    def nodes(self):
        """The node processes by slot, without the guards of programs, which are forks of theirs and look the same."""
        nodes = [p for p in processes_of(self.folder) if p.role == "node"]
        pids = {p.pid for p in nodes}
        return {p.option("--slot"): p for p in nodes if p.parent not in pids}

    def hold_in_training(self, run, slot):
        """Stops a node that has a candidate, and returns it. That others finish some meanwhile shows that it has one:
        no node is left without while candidates wait."""
        node = self.nodes()[slot]
        os.kill(node.pid, signal.SIGSTOP)
        done = self.count("select count(*) from evaluations")
        self.await_evaluations(done + 3, run)
        return node

    def log(self, name="head.log"):
        """Nothing, as long as it is not there."""
        log = self.run_folder() / name
        return log.read_text() if log.exists() else ""

    def await_log(self, sentence, command, count=1):
        """Until the head's log has a sentence so often."""
        def said():
            if not command.running:
                raise AssertionError(f"clade ended before its log had {sentence!r}:\n{command.said()}{self.log()}")
            return self.log().count(sentence) >= count
        await_true(said, f"head.log never had {sentence!r} {count} times")

    def worker(self, head):
        return next((p for p in processes_of(self.folder) if p.role == "worker" and p.parent == head.pid), None)

    def assert_whole(self, candidates):
        """Every candidate was evaluated exactly once, and ids are consecutive."""
        ids = [row[0] for row in self.query("select id from genomes order by sequence")]
        self.assertEqual(ids, list(range(1, candidates + 1)))
        born, evaluated = (self.count("select count(*) from records where kind = ?", kind) for kind in (2, 3))
        self.assertEqual((born, evaluated), (candidates, candidates))
        self.assertEqual(self.query("select id from evaluations order by id"), [(i,) for i in ids])
        self.assertEqual(self.count("select state from progress"), "finished")
