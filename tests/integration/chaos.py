"""The engine of tools/chaos: searches under faults, one after the other until the time is over, each compared with the
same search to which nothing happens."""

import collections
import contextlib
import dataclasses
import json
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import time

from chaos_cluster import Broken, Cluster, make_network
from chaos_faults import FAULTS, inject
from live_runs import CLADE, SMALL_SPACE

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

EXPERIMENT = f"""
[experiment]
name = "chaos"
fitness = "synthetic"
[data]
shape = [1, 8, 8]
classes = 10
[search_space]
file = "{SMALL_SPACE}"
[evolution]
strategy = "generational"
population = 64
generations = 4
[synthetic]
epochs = 2
duration = "400ms"
diverge = 0.05
crash = 0.02
"""

# A disk that fails has no row in the table of faults: it is in wait when a head is resumed.
KINDS = [f.name for f in FAULTS] + ["disk fails to write", "disk fails to sync"]

# Without a calm moment for so long, nothing more is done until there is one.
WEARY_S = 8


@dataclasses.dataclass(frozen=True)
class Search:
    """The search: words of `clade run`, without the seed. `slots` by host."""
    name: str
    words: tuple
    slots: dict
    slots_undisturbed: int
    teams: bool = False  # Several slots share each training.
    timed: bool = False  # Timing is part of the result, and recorded: no other run has the same.


def synthetic(folder):
    file = folder / "chaos.toml"
    file.write_text(EXPERIMENT)
    return Search("synthetic evaluator", (file,), {"head": 2, "alpha": 2, "beta": 2}, 12)


def training():
    changes = ("evolution.population=12", "evolution.generations=3", "training.epochs=4", 'limits.wall_time="10h"',
               'limits.evaluation_time="10min"')
    return Search("real training", (ROOT / "experiments" / "digits.toml", *(w for c in changes for w in ("--set", c))),
                  {"head": 1, "alpha": 1, "beta": 1}, 2)


def teams(distribution, updates):
    """Each training is divided over the slots of all hosts. Epochs are many, so that faults meet steps. `updates`: as
    in the experiment, empty for those that the distribution has by itself."""
    changes = ("evolution.population=3", "evolution.generations=2", "training.epochs=25", "training.patience=0",
               'training.checkpoint_every="1s"', 'limits.wall_time="10h"', 'limits.evaluation_time="60min"',
               f"training.distribution={distribution}", "training.devices=3",
               *([f"training.updates={updates}"] if updates else []))
    return Search(f"{f'{updates} ' if updates else ''}{distribution} training",
                  (ROOT / "experiments" / "digits.toml", *(w for c in changes for w in ("--set", c))),
                  {"head": 1, "alpha": 1, "beta": 1}, 3, teams=True,
                  timed=distribution == "peer_to_peer" or updates not in ("", "synchronous"))


def can_train():
    return (pathlib.Path(CLADE).resolve().parent / "libclade_training.so").exists()


@dataclasses.dataclass
class Result:
    """The counts of all runs of one search."""
    search: str
    no_links: str = ""  # Why there were no links to cut.
    faults: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(collections.Counter))
    runs: int = 0
    evaluations: int = 0
    tries: int = 0
    lost: int = 0
    twice: int = 0
    different: int = 0
    digests: int = 0
    unsound: int = 0
    left: list = dataclasses.field(default_factory=list)  # The words of workers that ended though nobody ended them.
    seconds: float = 0
    broken: str = ""  # Why a search did not come to its end.

    @property
    def injected(self):
        return sum(sum(hit.values()) for hit in self.faults.values())

    @property
    def clean(self):
        return not (self.lost or self.twice or self.different or self.digests or self.unsound or self.broken)

    def to_json(self):
        return {**vars(self), "injected": self.injected}


def clade(*words):
    return subprocess.run([CLADE, *map(str, words)], capture_output=True, text=True, timeout=1800, check=False)


def evaluated_id(payload):
    """Returns the id of a record of kind 3, [3, [id, ...]] in msgpack."""
    first = payload[3]
    width = {0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}.get(first, 0)
    return int.from_bytes(payload[4:4 + width], "big") if width else first


def evaluations_of(run):
    """By id what was found, and how often each id was recorded."""
    with contextlib.closing(sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)) as store:
        rows = store.execute("select id, outcome, fitness, parameters, weights_hash from evaluations").fetchall()
        records = store.execute("select payload from records where kind = 3").fetchall()
        lost_nodes = store.execute("select count(*) from attempts").fetchone()[0]
    return {row[0]: row[1:] for row in rows}, collections.Counter(evaluated_id(r[0]) for r in records), lost_nodes


def digest_of(run):
    """Or why there is none."""
    shown = clade("show", run, "--json")
    return json.loads(shown.stdout)["digest"] if shown.returncode == 0 else shown.stderr


def count(result, run, say):
    """Adds up what was evaluated, and what was recorded more than once. Returns by id what was found, and how often it
    was recorded."""
    found, counted, lost_nodes = evaluations_of(run)
    twice = [i for i, times in counted.items() if times > 1]
    result.runs += 1
    result.evaluations += len(found)
    result.tries += lost_nodes
    result.twice += len(twice)
    for i in twice[:5]:
        say(f"  #{i} counted {counted[i]} times: {found.get(i)}")
    for words in (("check", run), ("replay", run, "--verify")):
        checked = clade(*words)
        if checked.returncode != 0:
            result.unsound += 1
            say(f"  clade {words[0]}: {checked.stdout}{checked.stderr}")
    return found, counted


def undisturbed(folder, search, seed):
    runs = folder / "undisturbed"
    done = clade("run", *search.words, "--seed", seed, "--slots", search.slots_undisturbed, "--runs", runs)
    if done.returncode != 0:
        raise Broken(f"the undisturbed run ended with status {done.returncode}: {done.stderr}")
    return next(runs.iterdir())


def compare(result, disturbed, reference, say):
    """Adds up what differs between the two."""
    found, counted = count(result, disturbed, say)
    wanted = evaluations_of(reference)[0]
    lost = [i for i in wanted if i not in found or counted[i] == 0]
    different = [i for i, what in found.items() if wanted.get(i) != what]
    result.lost += len(lost)
    result.different += len(different)
    for name, ids in (("lost", lost), ("different", different)):
        for i in ids[:5]:
            say(f"  #{i} {name}: {wanted.get(i)} undisturbed, {found.get(i)} under faults")
    digest, undisturbed_digest = digest_of(disturbed), digest_of(reference)
    if digest != undisturbed_digest:
        result.digests += 1
        say(f"  {digest} differs from {undisturbed_digest}")


def make_again(result, run, say):
    """Adds up what is missing, and what does not come out the same when it is trained again by what was recorded."""
    found, _ = count(result, run, say)
    with contextlib.closing(sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)) as store:
        born = [row[0] for row in store.execute("select id from genomes")]
    result.lost += sum(i not in found for i in born)
    again = clade("replay", run, "--retrain", "all", "--slots", "cpu:1")
    different = [line for line in again.stdout.splitlines() if re.match(r"#\d+: ", line) and ": equal, " not in line]
    result.different += len(different) or again.returncode != 0
    if again.returncode != 0:
        say(f"  clade replay --retrain: {again.stdout}{again.stderr}")


def disturb(cluster, draw, result, until, every, say):
    """Lets faults happen until the search or the time is over."""
    following = 0
    while not cluster.finished and time.time() < until:
        met = cluster.tend(max(0.02, min(0.5, following - time.time())))
        if met:
            result.faults[met]["head"] += 1
            say(f"  {met}")
        cluster.check_progress()
        if not cluster.head_is_there or time.time() < following:
            continue
        trouble = cluster.trouble()
        if time.time() - cluster.calm_at > WEARY_S:
            continue  # Whatever is in trouble is given time to recover.
        name, hit = inject(cluster, draw)
        if hit:
            result.faults[name].update(hit)
            say(f"  {time.strftime('%T')}  {name}: {', '.join(hit)} ({trouble or 'calm'})")
        following = time.time() + every * draw.uniform(0.5, 1.5)


def one_run(folder, search, seed, result, until, every, say):
    """One search under faults, and its comparison with another, or with itself made again."""
    folder.mkdir()
    draw = random.Random(seed)
    with contextlib.ExitStack() as closing:
        network, result.no_links = make_network()
        if network:
            closing.callback(network.close)
        cluster = Cluster(folder, [*search.words, "--seed", seed], search.slots, network, draw, search.teams)
        closing.callback(cluster.close)
        started = time.time()
        try:
            cluster.start_all()
            disturb(cluster, draw, result, until, every, say)
            cluster.settle()
        finally:
            result.seconds += time.time() - started
            result.left += cluster.left
        if search.timed:
            make_again(result, cluster.run, say)
        else:
            compare(result, cluster.run, undisturbed(folder, search, seed), say)


def chaos(folder, search, seed, minutes, every, say):
    """Searches with that seed and those after it until the time is over. Stops at the first that is not as it should
    be, and leaves its folder."""
    result = Result(search.name)
    until = time.time() + 60 * minutes
    while result.clean and (result.runs == 0 or time.time() < until):
        run_folder = folder / f"{search.name.replace(' ', '_')}-{seed}"
        say(f"{search.name}, seed {seed}: {run_folder}")
        try:
            one_run(run_folder, search, seed, result, until, every, say)
        except Broken as broken:
            result.broken = f"seed {seed}: {broken}"
        if result.clean:
            shutil.rmtree(run_folder)
        seed += 1
    return result


def table(result):
    """For people."""
    if result.no_links:
        yield f"no link was cut, and none lost packets: {result.no_links}"
    yield f"{result.search}: {result.runs} runs, {result.seconds:.0f} s"
    yield f"  {'fault':<28} {'injected':>8}  hit"
    for kind in KINDS:
        hit = result.faults.get(kind)
        if hit:
            yield f"  {kind:<28} {sum(hit.values()):>8}  {', '.join(f'{host} {n}' for host, n in sorted(hit.items()))}"
    yield f"  {'all':<28} {result.injected:>8}"
    for name, number in (("evaluations", result.evaluations), ("tries that were lost", result.tries),
                         ("workers that left", len(result.left)), ("evaluations lost", result.lost),
                         ("evaluations counted twice", result.twice), ("evaluations different", result.different),
                         ("digests different", result.digests), ("stores that fail clade check", result.unsound)):
        yield f"  {name:<28} {number:>8}"
    yield from (f"worker that left: {words}" for words in result.left)
    if result.broken:
        yield f"the search broke down: {result.broken}"
