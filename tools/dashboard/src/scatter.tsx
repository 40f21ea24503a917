import { useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Chart } from "./chart_tools";
import type { Table } from "./csv";
import type { Field } from "./fields";
import { clock, count, date_time, metric, setting } from "./format";
import type { Row } from "./model";
import { CandidateLink, Empty } from "./parts";
import { go, type Place } from "./place";
import { axis, metric_axis, Plot } from "./plot";
import { scale_of } from "./scale";
import type { Theme } from "./theme";

// Candidates as dots, any field against any other. A word on an axis has a place by its number.

interface ScatterParams {
  rows: Row[];
  cut: number;
  x: Field;
  y: Field;
  log_x: boolean;
  log_y: boolean;
  /** Several colors, or one. */
  color: Field | null;
  /** The axis whose best so far is drawn as steps along x; none: not. */
  best: "highest" | "lowest" | null;
  place: Place;
  height?: number;
}

/** The number of dots that can be told apart. */
const most_dots = 8000;
const most_colors = 6;

interface Dots {
  rows: Row[];
  xs: number[];
  ys: number[];
  x_words: string[];
  y_words: string[];
  /** The series of each dot. */
  group: number[];
  groups: string[];
  left_out: number;
}

function numbers_of(rows: Row[], cut: number, field: Field, log: boolean): { values: (number | null)[]; words: string[] } {
  const raw = rows.map((r) => field.of(r, cut));
  if (!raw.some((v) => typeof v === "string")) return { values: (raw as (number | null)[]).map((v) => (log && v !== null && v <= 0 ? null : v)), words: [] };
  const words = scale_of(field.name, raw)?.words ?? [];
  return { values: raw.map((v) => (v === null ? null : words.indexOf(String(v)))), words };
}

function groups_of(rows: Row[], cut: number, color: Field | null): { group: number[]; groups: string[] } {
  if (!color) return { group: rows.map(() => 0), groups: [""] };
  const values = rows.map((r) => color.of(r, cut));
  const known = [...new Set(values.filter((v) => v !== null))].sort((a, b) => (a < b ? -1 : 1));
  if (known.length <= most_colors) {
    const groups = known.map((v) => (typeof v === "number" ? setting(v) : v));
    return { group: values.map((v) => (v === null ? -1 : known.indexOf(v))), groups };
  }
  if (known.some((v) => typeof v === "string")) {
    const counts = new Map<string, number>();
    for (const v of values) if (v !== null) counts.set(String(v), (counts.get(String(v)) ?? 0) + 1);
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, most_colors - 1).map(([v]) => v);
    return { group: values.map((v) => (v === null ? -1 : most.includes(String(v)) ? most.indexOf(String(v)) : most.length)), groups: [...most, "others"] };
  }
  // Each part has as many.
  const sorted = values.filter((v) => typeof v === "number").sort((a, b) => a - b);
  const parts = 4;
  const edges = [...new Set(Array.from({ length: parts - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / parts)]!))];
  const text = (v: number) => setting(Number(v.toPrecision(3)));
  return {
    group: values.map((v) => (typeof v !== "number" ? -1 : edges.filter((e) => v >= e).length)),
    groups: [...edges, Infinity].map((e, i) => (i === 0 ? `below ${text(e)}` : e === Infinity ? `from ${text(edges.at(-1)!)}` : `${text(edges[i - 1]!)} to ${text(e)}`)),
  };
}

/** Returns the rows that were the best when they came, along x: the line of the best goes through them. */
function records_of({ rows, cut, x, y, best }: ScatterParams): Set<Row> {
  const known = rows.flatMap((row) => {
    const [at, value] = [x.of(row, cut), y.of(row, cut)];
    return typeof at === "number" && typeof value === "number" ? [{ row, at, value }] : [];
  });
  known.sort((a, b) => a.at - b.at || a.row.id - b.row.id);
  const records = new Set<Row>();
  let so_far: number | null = null;
  for (const { row, value } of known)
    if (so_far === null || (best === "highest" ? value > so_far : value < so_far)) {
      so_far = value;
      records.add(row);
    }
  return records;
}

function sample_of(params: ScatterParams): Row[] {
  const step = Math.ceil(params.rows.length / most_dots);
  if (step <= 1) return params.rows;
  const kept = params.best ? records_of(params) : new Set<Row>();
  return params.rows.filter((r, i) => i % step === 0 || kept.has(r));
}

function dots_of(params: ScatterParams): Dots {
  const { rows, cut, x, y, log_x, log_y, color } = params;
  const some = sample_of(params);
  const on_x = numbers_of(some, cut, x, log_x);
  const on_y = numbers_of(some, cut, y, log_y);
  const { group, groups } = groups_of(some, cut, color);
  const order = some.map((_, i) => i).filter((i) => on_x.values[i] !== null && on_y.values[i] !== null && group[i]! >= 0);
  order.sort((a, b) => on_x.values[a]! - on_x.values[b]! || some[a]!.id - some[b]!.id);
  return {
    rows: order.map((i) => some[i]!), xs: order.map((i) => on_x.values[i]!), ys: order.map((i) => on_y.values[i]!),
    x_words: on_x.words, y_words: on_y.words, group: order.map((i) => group[i]!), groups, left_out: rows.length - order.length,
  };
}

function best_so_far(dots: Dots, best: "highest" | "lowest" | null): (number | null)[] {
  let at: number | null = null;
  return dots.ys.map((y) => {
    if (best && (at === null || (best === "highest" ? y > at : y < at))) at = y;
    return at;
  });
}

export function Scatter(params: ScatterParams) {
  const { rows, cut, x, y, log_x, log_y, color, best, place } = params;
  const [pointed, set_pointed] = useState<Row | null>(null);
  const dots = useMemo(() => dots_of(params), [rows, cut, x.name, y.name, log_x, log_y, color?.name]);
  const now = useRef({ dots, place, at: -1 });
  now.current.dots = dots;
  now.current.place = place;
  const data = useMemo<uPlot.AlignedData>(
    () => [dots.xs, best_so_far(dots, best), ...dots.groups.map((_, g) => dots.ys.map((v, i) => (dots.group[i] === g ? v : null)))],
    [dots, best],
  );
  if (!dots.rows.length) return <Empty>No candidate has both a value of {x.name} and of {y.name}.</Empty>;

  const make = (theme: Theme): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    cursor: { x: false, y: false, points: { show: false } },
    scales: { x: { time: x.kind === "time", distr: log_x ? 3 : 1, range: padded(log_x) }, y: { distr: log_y ? 3 : 1, range: padded(log_y) } },
    axes: [axis_of(theme, x, dots.x_words, log_x, false), axis_of(theme, y, dots.y_words, log_y, true)],
    series: [
      {},
      { stroke: theme.text, width: 1.5, paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false }, show: best !== null },
      ...dots.groups.map((_, g) => {
        const fill = dots.groups.length > 1 ? theme.series[g % theme.series.length]! : theme.accent;
        return { paths: () => null, points: { show: true, size: 6, width: 0, fill: `${fill}${dots.rows.length > 600 ? "99" : "dd"}` } };
      }),
    ],
    hooks: {
      setCursor: [(u) => {
        const at = nearest(u, now.current.dots);
        if (at === now.current.at) return;
        now.current.at = at;
        set_pointed(now.current.dots.rows[at] ?? null);
        u.redraw(false);
      }],
      draw: [(u) => draw_pointed(u, theme, now.current.dots, now.current.at)],
    },
  });

  const press = () => {
    const row = now.current.dots.rows[now.current.at];
    if (row) go(now.current.place, { view: "candidate", ids: [row.id] });
  };
  const table = (): Table => ({
    columns: ["id", x.name, y.name, ...(color ? [color.name] : []), ...(best ? [`best ${y.name} so far`] : [])],
    rows: dots.rows.map((r, i) => [r.id, shown(x.of(r, cut), x), y.of(r, cut), ...(color ? [color.of(r, cut)] : []), ...(best ? [data[1]![i] ?? null] : [])]),
  });
  return (
    <Chart name={`${y.name} against ${x.name}`} table={table}>
      <Plot label={`${y.name} against ${x.name} of ${count(dots.rows.length)} candidates`} data={data} height={params.height ?? 440} zooms
        kind={`scatter ${x.name} ${y.name} ${log_x} ${log_y} ${best} ${dots.groups.join()} ${dots.rows.length > 600} ${dots.x_words.join()} ${dots.y_words.join()}`} make={make} press={press} />
      <ul class="legend" data-test="scatter">
        <li class="lead">{count(dots.rows.length)} candidates</li>
        {dots.groups.length > 1 && dots.groups.map((g, i) => <li key={g}><i class={`key dot series-${i % 6}`} />{color!.name} {g}</li>)}
        {best && <li><i class="key line" />best so far</li>}
        {dots.left_out > 0 && <li>{count(dots.left_out)} not drawn</li>}
        {pointed && <li><CandidateLink id={pointed.id} place={place} /> {x.name} {said(x.of(pointed, cut), x)}, {y.name} {said(y.of(pointed, cut), y)}</li>}
      </ul>
    </Chart>
  );
}

/** Room at both ends, so that no dot is cut. */
function padded(log: boolean): uPlot.Range.Function {
  return (_, low, high) => {
    if (log) {
      const room = (high / low) ** 0.03;
      return high > low ? [low / room, high * room] : [low / 2, high * 2];
    }
    const room = high > low ? (high - low) * 0.03 : Math.abs(low) * 0.05 || 1;
    return [low - room, high + room];
  };
}

function axis_of(theme: Theme, field: Field, words: string[], log: boolean, upright: boolean): uPlot.Axis {
  if (words.length)
    return axis(theme, {
      size: upright ? Math.min(110, 16 + 7 * Math.max(...words.map((w) => w.length))) : 30,
      splits: () => words.map((_, i) => i), values: () => words,
    });
  if (field.kind === "time" && !upright) return axis(theme, { values: (_, splits) => splits.map((s) => clock(s * 1000)), space: 70 });
  if (!log) return upright ? metric_axis(theme) : axis(theme, { values: (_, splits) => splits.map((s) => setting(Number(s.toPrecision(6)))), space: 70 });
  const power = (v: number) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;
  return axis(theme, {
    size: upright ? 52 : 30,
    values: (_, splits) => (splits.filter((s) => s !== null && power(s)).length > 1
      ? splits.map((s) => (s === null || !power(s) ? "" : setting(s)))
      : splits.map((s) => (s === null ? "" : setting(Number(s.toPrecision(2)))))),
  });
}

/** The dot next to the pointer, if one is near. */
function nearest(u: uPlot, dots: Dots): number {
  const { left = -1, top = -1 } = u.cursor;
  if (left < 0) return -1;
  let best = -1;
  let least = 14 ** 2;
  for (let i = 0; i < dots.rows.length; ++i) {
    const dx = u.valToPos(dots.xs[i]!, "x") - left;
    if (dx * dx > least) continue;
    const dy = u.valToPos(dots.ys[i]!, "y") - top;
    if (dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy];
  }
  return best;
}

function draw_pointed(u: uPlot, theme: Theme, dots: Dots, at: number): void {
  if (at < 0 || at >= dots.rows.length) return;
  u.ctx.save();
  u.ctx.strokeStyle = theme.text;
  u.ctx.lineWidth = 2 * devicePixelRatio;
  u.ctx.beginPath();
  u.ctx.arc(u.valToPos(dots.xs[at]!, "x", true), u.valToPos(dots.ys[at]!, "y", true), 6 * devicePixelRatio, 0, 2 * Math.PI);
  u.ctx.stroke();
  u.ctx.restore();
}

function shown(v: number | string | null, field: Field): number | string | null {
  return field.kind === "time" && typeof v === "number" ? date_time(v * 1000) : v;
}

function said(v: number | string | null, field: Field): string {
  if (v === null) return "–";
  if (field.kind === "time") return clock(Number(v) * 1000);
  return typeof v === "string" ? v : field.group === "metric" ? metric(v) : setting(v);
}
