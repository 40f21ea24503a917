"""A run as HTML for a notebook: what it is, its curve, and its best network. No script, nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clade.run import Network

WIDTH, HEIGHT = 520, 160
LEFT, BOTTOM, TOP = 52, 22, 10


def _points(values: list[tuple[float, float]], box: tuple[float, float, float, float]) -> str:
    low_x, high_x, low_y, high_y = box
    wide, tall = WIDTH - LEFT - 10, HEIGHT - TOP - BOTTOM
    return " ".join(f"{LEFT + wide * (x - low_x) / ((high_x - low_x) or 1):.1f},"
                    f"{TOP + tall * (1 - (y - low_y) / ((high_y - low_y) or 1)):.1f}" for x, y in values)


def curve_svg(generations: list[dict[str, Any]], metric: str, maximize: bool) -> str:
    """Returns the best fitness so far and each generation's median over the generations as an inline SVG."""
    of_best = [(g["generation"], g["best_fitness"]) for g in generations if g["best_fitness"] is not None]
    if not of_best:
        return ""
    better = max if maximize else min
    best: list[tuple[float, float]] = []
    for number, value in of_best:
        best.append((number, better(value, best[-1][1]) if best else value))
    median = [(g["generation"], g["median"]) for g in generations if g["median"] is not None]
    values = [v for _, v in best + median]
    box = (best[0][0], best[-1][0], min(values), max(values))
    text = 'font-size="11" fill="currentColor"'
    title = f"{metric}: the best so far, and the median of each generation"
    return (f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'style="max-width:100%"><title>{escape(title)}</title>'
            f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - 10}" fill="none" stroke="currentColor" opacity=".4"/>'
            f'<polyline points="{_points(median, box)}" fill="none" stroke="currentColor" opacity=".5" '
            'stroke-dasharray="4 3"/>'
            f'<polyline points="{_points(best, box)}" fill="none" stroke="#2f7ed8" stroke-width="2"/>'
            f'<text x="{LEFT - 4}" y="{TOP + 8}" text-anchor="end" {text}>{box[3]:.4g}</text>'
            f'<text x="{LEFT - 4}" y="{HEIGHT - BOTTOM}" text-anchor="end" {text}>{box[2]:.4g}</text>'
            f'<text x="{LEFT}" y="{HEIGHT - 6}" {text}>generation {box[0]:g}</text>'
            f'<text x="{WIDTH - 10}" y="{HEIGHT - 6}" text-anchor="end" {text}>{box[1]:g}</text></svg>')


def _row(name: str, value: str) -> str:
    return f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'


def _network_html(network: Network, finished: bool) -> str:
    rows = [_row(name, f"{value:.4g}") for name, value in sorted(network.metrics.items())]
    rows.append(_row("parameters", f"{network.parameters:,}"))
    rows += [_row(name, f"{value:.4g}" if isinstance(value, float) else str(value))
             for name, value in sorted(network.hyperparameters.items())]
    title = f"{'champion' if finished else 'best so far'} #{network.id}"
    return (f"<table><caption>{title}</caption>{''.join(rows)}</table>"
            f"<details><summary>its network</summary><pre>{escape(network.description)}</pre></details>")


def run_html(title: str, run: dict[str, Any], best: Network | None) -> str:
    """Returns the page of a run, of what `clade show --json` says of it, and of its best network."""
    failed = f", {run['failed']} failed" if run["failed"] else ""
    head = f"<b>{escape(title)}</b>: {escape(run['state'])}, {run['evaluated']} networks evaluated{failed}"
    network = "" if best is None else _network_html(best, bool(run["champion"]))
    return f"<div>{head}<br>{curve_svg(run['generations'], run['metric'], run['maximize'])}{network}</div>"
