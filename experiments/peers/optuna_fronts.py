"""Searches for fronts, for optuna_tables.py: what engine/simulation/table_front.cpp judges by.

An aim is (name of a metric, whether it is raised); the first is the table's own objective. Each metric's truth (its
mean over seeds, of "test." where there is one) is scaled to the share of the table's rows that are worse.
"""

import bisect
import math


def covers(a, b):
    return all(x >= y for x, y in zip(a, b))


def front_of(points):
    """Returns the points that no other covers, each once."""
    kept = []
    for p in sorted(set(points), reverse=True):
        if not any(covers(q, p) for q in kept):
            kept.append(p)
    return kept


def hypervolume(points):
    """Above 0; exact, by slabs along the last objective."""
    points = front_of([p for p in points if all(x > 0 for x in p)])
    if not points:
        return 0.0
    if len(points[0]) == 1:
        return points[0][0]
    points.sort(key=lambda p: -p[-1])
    volume = 0.0
    for i, p in enumerate(points):
        below = points[i + 1][-1] if i + 1 < len(points) else 0.0
        if p[-1] > below:
            volume += hypervolume([q[:-1] for q in points[:i + 1]]) * (p[-1] - below)
    return volume


def share(value, ordered):
    """Returns how many, of those that are worse than the best, are worse than this."""
    most = bisect.bisect_left(ordered, ordered[-1])
    return bisect.bisect_left(ordered, value) / most if most else 1.0


class Front:
    """The standard by which a search on a table is judged: its rows' truths, scaled, None where one is missing."""

    def __init__(self, table, aims):
        self.aims = aims
        raised = [1 if maximize else -1 for _, maximize in aims]
        columns = [[table.mean(run) for run in table.metric(table.truth_of(name))] for name, _ in aims]
        points = [tuple(s * v for s, v in zip(raised, row)) if all(v is not None and math.isfinite(v) for v in row)
                  else None for row in zip(*columns)]
        there = [p for p in points if p is not None]
        ordered = [sorted(c) for c in zip(*there)]
        self.truths = [p and tuple(share(v, c) for v, c in zip(p, ordered)) for p in points]
        self.best = hypervolume([p for p in self.truths if p is not None])
        self.others = [(table.metric(name), sign) for (name, _), sign in zip(aims[1:], raised[1:])]


class FoundFront:
    """The front of what was evaluated so far, by the truth."""

    def __init__(self, front):
        self.front, self.members, self.regret = front, [], front.best

    def add(self, row):
        own = self.front.truths[row]
        if own is None or any(covers(other, own) for other in self.members):
            return
        self.members = [m for m in self.members if not covers(own, m)] + [own]
        self.regret = self.front.best - hypervolume(self.members)
