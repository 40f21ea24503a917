import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { QueryField, use_found, use_names } from "./candidates";
import { Chart } from "./chart_tools";
import { type Canvas, Drawing } from "./drawing";
import { count, metric, setting } from "./format";
import type { Row } from "./model";
import { is_evaluated, type Moment } from "./moment";
import { CandidateLink, Empty, Panel } from "./parts";
import { go, type Place } from "./place";
import { value_of } from "./query";
import type { Run } from "./run";
import { labels_of, place_on, type Scale, scale_of, value_at } from "./scale";

// A line for each candidate across an axis for each hyperparameter, the fitness last. Dragging along an axis writes a
// condition into the query, which the table has too; so everything can also be typed.

/** The number of lines that can be told apart. */
const most_lines = 2000;
/** In the accent: the fittest of them. */
const most_heavy = 20;
const height = 420;
const top = 40;
const bottom = 18;

/** The fittest, and an even sample of the others. */
function lines_of(rows: Row[], better: (a: Row, b: Row) => number): Row[] {
  if (rows.length <= most_lines) return rows.toSorted((a, b) => better(b, a));
  const order = rows.toSorted(better);
  const fittest = order.slice(0, most_lines / 2);
  const step = (order.length - fittest.length) / (most_lines / 2);
  const others = Array.from({ length: most_lines / 2 }, (_, i) => order[Math.floor(fittest.length + i * step)]!);
  return [...others.reverse(), ...fittest.reverse()];
}

export function Parallel({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const names = use_names(run);
  const { found, problem } = use_found(run, moment, place.query);
  const maximize = run.picture!.maximize;
  const evaluated = useMemo(() => moment.rows.filter((r) => r.fitness !== null && is_evaluated(r, moment.cut)), [moment.key]);
  const scales = useMemo(
    () => [...names.hyperparameters, "parameters", "fitness"].flatMap((n) => scale_of(n, evaluated.map((r) => value_of(r, n, moment.cut)), n !== "fitness") ?? []),
    [evaluated, names],
  );
  const lines = useMemo(() => {
    const chosen = found.length === moment.rows.length ? evaluated : found.filter((r) => r.fitness !== null && is_evaluated(r, moment.cut));
    return lines_of(chosen, (a, b) => (maximize ? b.fitness! - a.fitness! : a.fitness! - b.fitness!));
  }, [found, evaluated]);
  const [pointed, point_at] = useState<Row | null>(null);
  const [brush, set_brush] = useState<{ axis: number; from: number; to: number } | null>(null);
  const width = useRef(0);

  const draw = useCallback(
    (c: Canvas) => {
      width.current = c.width;
      draw_lines(c, scales, lines, moment.cut, maximize);
      if (pointed) draw_line(c, scales, pointed, moment.cut, c.theme.text, 2.5, 1);
      draw_axes(c, scales);
      if (brush) draw_brush(c, x_of(scales.length, brush.axis, c.width), brush.from, brush.to);
    },
    [scales, lines, pointed, brush, moment.cut],
  );
  if (!evaluated.length || scales.length < 2)
    return <Panel title="Parallel coordinates" wide><Empty>No candidate with hyperparameters has succeeded yet.</Empty></Panel>;

  const table = () => ({
    columns: ["id", ...scales.map((s) => s.name)],
    rows: lines.map((r) => [r.id, ...scales.map((s) => value_of(r, s.name, moment.cut))]),
  });

  function release(): void {
    if (!brush) return;
    set_brush(null);
    const scale = scales[brush.axis]!;
    const query = with_range(place.query, scale, part_of(Math.max(brush.from, brush.to)), part_of(Math.min(brush.from, brush.to)), Math.abs(brush.from - brush.to) < 4);
    go(place, { query }, true);
  }

  return (
    <Panel title="Parallel coordinates" wide
      note={`${count(lines.length)} of ${count(evaluated.length)} that succeeded${lines.length === most_lines ? ": the fittest, and an even sample" : ""}`}>
      <QueryField place={place} problem={problem} names={[...names.hyperparameters, ...names.metrics]} />
      <Chart name="Parallel coordinates" table={table}>
      <div class="scroll">
        <div class={`parallel axes-${Math.min(12, scales.length)}`}>
          <Drawing height={height} draw={draw}
            label={`${lines.length} candidates across ${scales.map((s) => s.name).join(", ")}; the query field chooses among them`}
            press={(x, y) => set_brush({ axis: nearest_axis(scales.length, x, width.current), from: y, to: y })}
            point={(x, y, pressed) => {
              if (pressed && brush) set_brush({ ...brush, to: y });
              else point_at(nearest_line(scales, lines, moment.cut, x, y, width.current));
            }}
            release={release} leave={() => point_at(null)} />
        </div>
      </div>
      </Chart>
      <p class="hint" data-test="pointed">
        {pointed ? (
          <><CandidateLink id={pointed.id} place={place} /> {metric(pointed.fitness)}: {Object.entries(pointed.hyperparameters).map(([n, v]) => `${n} ${setting(v)}`).join(", ")}</>
        ) : "Drag along an axis to choose a range; it is written into the field above, where it can be changed. The fitter, the stronger the line."}
      </p>
    </Panel>
  );
}

function part_of(y: number): number {
  return Math.max(0, Math.min(1, (height - bottom - y) / (height - top - bottom)));
}

function y_of(part: number): number {
  return height - bottom - part * (height - top - bottom);
}

function x_of(axes: number, i: number, width: number): number {
  const side = Math.min(56, width / (2 * axes));
  return side + (i * (width - 2 * side)) / (axes - 1);
}

function nearest_axis(axes: number, x: number, width: number): number {
  let best = 0;
  for (let i = 1; i < axes; ++i) if (Math.abs(x_of(axes, i, width) - x) < Math.abs(x_of(axes, best, width) - x)) best = i;
  return best;
}

/** A range of an axis in the place of the one that the query had; `none`: without. */
function with_range(query: string, s: Scale, low: number, high: number, none: boolean): string {
  const others = (query.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).filter((part) => !new RegExp(`^${s.name}(>=|<=|=|!=|:|<|>)`).test(part));
  if (!none) {
    if (s.words.length) {
      const chosen = s.words.filter((w) => place_on(s, w) >= low - 0.02 && place_on(s, w) <= high + 0.02);
      if (chosen.length === 1) others.push(`${s.name}=${chosen[0]}`);
      else if (chosen.length) others.push(...s.words.filter((w) => !chosen.includes(w)).map((w) => `${s.name}!=${w}`));
    } else {
      others.push(`${s.name}>=${Number(value_at(s, low).toPrecision(3))}`, `${s.name}<=${Number(value_at(s, high).toPrecision(3))}`);
    }
  }
  return others.join(" ");
}

function points_of(scales: Scale[], row: Row, cut: number, width: number): ([number, number] | null)[] {
  return scales.map((s, i) => {
    const v = value_of(row, s.name, cut);
    return v === null ? null : [x_of(scales.length, i, width), y_of(place_on(s, v))];
  });
}

function draw_line(c: Canvas, scales: Scale[], row: Row, cut: number, colour: string, line_width: number, alpha: number): void {
  const { context } = c;
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = line_width;
  context.beginPath();
  let down = false;
  for (const point of points_of(scales, row, cut, c.width)) {
    // A hyperparameter that does not apply leaves a gap.
    if (point) down ? context.lineTo(...point) : context.moveTo(...point);
    down = point !== null;
  }
  context.stroke();
  context.globalAlpha = 1;
}

function draw_lines(c: Canvas, scales: Scale[], lines: Row[], cut: number, maximize: boolean): void {
  const fitness = scales.find((s) => s.name === "fitness")!;
  // If there are many, each has to be fainter.
  const many = Math.min(1, 12 / Math.sqrt(lines.length));
  lines.forEach((row, i) => {
    const on = place_on(fitness, row.fitness!);
    const good = maximize ? on : 1 - on;
    const fittest = i >= lines.length - Math.max(1, Math.min(most_heavy, lines.length / 20));
    draw_line(c, scales, row, cut, fittest ? c.theme.accent : c.theme.muted, fittest ? 1.5 : 1, fittest ? 0.85 : Math.max(0.05, many * good * 0.6));
  });
}

function draw_axes(c: Canvas, scales: Scale[]): void {
  const { context, theme } = c;
  context.textBaseline = "middle";
  scales.forEach((s, i) => {
    const x = x_of(scales.length, i, c.width);
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, y_of(0));
    context.lineTo(Math.round(x) + 0.5, y_of(1));
    context.stroke();
    context.textAlign = "center";
    context.fillStyle = theme.text;
    // Names that would touch stand on two lines, by turns.
    context.fillText(s.name, Math.min(Math.max(x, context.measureText(s.name).width / 2), c.width - context.measureText(s.name).width / 2), i % 2 ? 22 : 8);
    const labels = labels_of(s, [0, 0.25, 0.5, 0.75, 1]);
    context.textAlign = i === scales.length - 1 ? "right" : "left";
    for (const [part, label] of labels) {
      const beside = i === scales.length - 1 ? x - 5 : x + 5;
      context.lineWidth = 3;
      context.strokeStyle = theme.panel;
      context.strokeText(label, beside, y_of(part));
      context.fillStyle = theme.muted;
      context.fillText(label, beside, y_of(part));
    }
  });
}

function draw_brush(c: Canvas, x: number, from: number, to: number): void {
  c.context.fillStyle = c.theme.accent;
  c.context.globalAlpha = 0.3;
  c.context.fillRect(x - 8, Math.min(from, to), 16, Math.abs(to - from));
  c.context.globalAlpha = 1;
}

function nearest_line(scales: Scale[], lines: Row[], cut: number, x: number, y: number, width: number): Row | null {
  let best: Row | null = null;
  let nearest = 8;
  const left = scales.findLastIndex((_, i) => x_of(scales.length, i, width) <= x);
  if (left < 0 || left + 1 >= scales.length) return null;
  const pair = scales.slice(left, left + 2);
  const [from, to] = [x_of(scales.length, left, width), x_of(scales.length, left + 1, width)];
  for (const row of lines) {
    const [a, b] = pair.map((s) => value_of(row, s.name, cut));
    if (a == null || b == null) continue;
    const [ya, yb] = [y_of(place_on(pair[0]!, a)), y_of(place_on(pair[1]!, b))];
    const distance = Math.abs(ya + ((yb - ya) * (x - from)) / (to - from) - y);
    if (distance <= nearest) [best, nearest] = [row, distance];
  }
  return best;
}
