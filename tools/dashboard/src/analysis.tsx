import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { use_found } from "./candidates";
import { Chart } from "./chart_tools";
import { type Canvas, Drawing } from "./drawing";
import type { Field } from "./fields";
import { expected_at } from "./forest";
import { counted, metric, percent, setting } from "./format";
import { type Importance, least_rows, type Matter, use_importance } from "./importance";
import type { Row } from "./model";
import { is_evaluated, type Moment } from "./moment";
import { Parallel } from "./parallel";
import { Empty, Panel } from "./parts";
import { address_of, type Place, set_option } from "./place";
import type { Run } from "./run";
import { labels_of, place_on, type Scale, scale_of, value_at } from "./scale";
import type { Theme } from "./theme";
import { FieldChoice, use_fields } from "./trials";

// The effects of the search space on fitness: which hyperparameters and layers matter, how fitness goes with
// each, and with two at once.

export function Analysis({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const p = run.picture!;
  const all = use_fields(run);
  const { found } = use_found(run, moment, place.query);
  const target = all.find((f) => f.name === place.options["of"] && f.kind === "number") ?? all.find((f) => f.name === p.metric);
  const rows = useMemo(() => found.filter((r) => r.fitness !== null && is_evaluated(r, moment.cut)), [found, moment.cut]);
  // The fields that were chosen, and not those of the outcome.
  const fields = useMemo(() => all.filter((f) => f.group === "hyperparameter" || (f.group === "network" && f.name !== "parameters" && f.name !== "nodes")), [all]);
  const dependent = all.filter((f) => f.kind === "number" && (f.group === "metric" || f.name === "parameters" || f.name === "seconds"));
  if (!target || rows.length < least_rows)
    return (
      <div class="grid">
        <Panel title="Importance" wide><Empty>At least {least_rows} candidates that succeeded are needed; {counted(rows.length, "candidate")} is there.</Empty></Panel>
        <Parallel run={run} moment={moment} place={place} />
      </div>
    );
  return (
    <div class="grid">
      <Findings question={`${target.name}|${place.query}|${moment.generation}`} rows={rows} cut={moment.cut} fields={fields} dependent={dependent} target={target} place={place} />
      <Parallel run={run} moment={moment} place={place} />
    </div>
  );
}

function Findings({ question, rows, cut, fields, dependent, target, place }: { question: string; rows: Row[]; cut: number; fields: Field[]; dependent: Field[]; target: Field; place: Place }) {
  const { importance, progress, possible } = use_importance(question, rows, cut, fields, target);
  const choice = <div class="choice"><FieldChoice label="of" fields={dependent} chosen={target.name} choose={(v) => set_option(place, "of", v)} /></div>;
  if (!possible) return <Panel title="Importance" wide note={choice}><Empty>All candidates are alike in what was searched.</Empty></Panel>;
  if (!importance)
    return <Panel title="Importance" wide note={choice}><p class="empty" role="status">A forest is being grown: {Math.round(progress * 100)} %.</p></Panel>;
  return (
    <>
      <Bars importance={importance} target={target} note={choice} />
      <Contour importance={importance} cut={cut} target={target} place={place} />
      <Slices importance={importance} cut={cut} target={target} place={place} />
    </>
  );
}

function Bars({ importance, target, note }: { importance: Importance; target: Field; note: preact.ComponentChildren }) {
  const shown = importance.order.slice(0, 14);
  const explained = Math.max(0, importance.forest.explained);
  const table = () => ({
    columns: ["what", "kind", "importance"],
    rows: importance.order.map((m) => [m.field.name, m.field.group, Number(m.share.toFixed(6))]),
  });
  return (
    <Panel title="Importance" class="half" note={note}>
      <Chart name={`Importance for ${target.name}`} table={table} only={["Table", "CSV"]}>
        <ul class="bars wide-names" data-test="importance">
          {shown.map((m) => (
            <li key={m.field.name}>
              <span class={m.field.group === "network" ? "layer" : ""}>{m.field.name}</span>
              <progress class="good" max={Math.max(0.01, shown[0]!.share)} value={m.share} aria-label={m.field.name} />
              <span class="n">{percent(m.share)}</span>
            </li>
          ))}
        </ul>
        <p class="hint shown">
          Permutation importance on a random forest of {importance.forest.trees.length} trees over {counted(importance.rows.length, "candidate")}. The forest
          explains {percent(explained)} of the variance of {target.name} among candidates that its trees did not see{explained < 0.2 && ": so little that this order says not much"}.
        </p>
      </Chart>
    </Panel>
  );
}

const slice_height = 170;
const inset = { left: 44, right: 8, top: 8, bottom: 22 };

interface Frame {
  x: Scale;
  y: Scale;
}

function spot(c: Canvas, f: Frame, x: number | string, y: number | string): [number, number] {
  return [
    inset.left + 6 + place_on(f.x, x) * (c.width - inset.left - inset.right - 12),
    c.height - inset.bottom - 4 - place_on(f.y, y) * (c.height - inset.top - inset.bottom - 8),
  ];
}

/** `between`: words have a cell each, and stand in its middle. */
function draw_frame(c: Canvas, f: Frame, between = false): void {
  const { context, theme } = c;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(inset.left + 0.5, inset.top + 0.5, c.width - inset.left - inset.right - 1, c.height - inset.top - inset.bottom - 1);
  context.fillStyle = theme.muted;
  context.textBaseline = "top";
  const labels = (s: Scale): [number, string][] =>
    between && s.words.length ? s.words.map((w, i) => [(i + 0.5) / s.words.length, w]) : labels_of(s, [0, 0.5, 1]);
  const across = labels(f.x);
  let free = 0;
  for (const [part, label] of across) {
    const width = context.measureText(label).width;
    const x = inset.left + 6 + part * (c.width - inset.left - inset.right - 12);
    const at = Math.min(Math.max(x - width / 2, inset.left), c.width - width);
    if (at < free) continue;
    free = at + width + 6;
    context.textAlign = "left";
    context.fillText(label, at, c.height - inset.bottom + 6);
  }
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const [part, label] of labels(f.y))
    context.fillText(brief(label), inset.left - 5, c.height - inset.bottom - 4 - part * (c.height - inset.top - inset.bottom - 8));
}

/** In the room of six letters. */
function brief(label: string): string {
  const n = Number(label.replaceAll(",", ""));
  if (label.length <= 6 || Number.isNaN(n)) return label.slice(0, 6);
  if (Math.abs(n) >= 1e6) return `${Number((n / 1e6).toPrecision(3))}M`;
  return Math.abs(n) >= 1e4 ? `${Number((n / 1e3).toPrecision(3))}k` : String(Number(n.toPrecision(4)));
}

/** How fitness goes with each of what matters most: a dot for each candidate, and the median along the way. */
function Slices({ importance, cut, target, place }: { importance: Importance; cut: number; target: Field; place: Place }) {
  const shown = importance.order.slice(0, 12);
  return (
    <Panel title="Slices" wide note={`${target.name} against each, the most important first`}>
      <div class="slices">{shown.map((m) => <Slice key={m.field.name} rows={importance.rows} cut={cut} matter={m} target={target} place={place} />)}</div>
    </Panel>
  );
}

function medians_of(points: [number, number][]): [number, number][] {
  const sorted = points.toSorted((a, b) => a[0] - b[0]);
  const parts = Math.min(10, Math.floor(sorted.length / 5));
  return Array.from({ length: parts }, (_, i) => {
    const part = sorted.slice(Math.floor((i * sorted.length) / parts), Math.floor(((i + 1) * sorted.length) / parts));
    const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
    return [middle(part.map((p) => p[0])), middle(part.map((p) => p[1]))];
  });
}

function Slice({ rows, cut, matter, target, place }: { rows: Row[]; cut: number; matter: Matter; target: Field; place: Place }) {
  const { field } = matter;
  const frame = useMemo(() => {
    const x = scale_of(field.name, rows.map((r) => field.of(r, cut)));
    const y = scale_of(target.name, rows.map((r) => target.of(r, cut)), false);
    return x && y ? { x, y } : null;
  }, [rows, cut, field, target]);
  const draw = useCallback(
    (c: Canvas) => {
      if (!frame) return;
      draw_frame(c, frame);
      const points: [number, number][] = [];
      c.context.fillStyle = c.theme.accent;
      c.context.globalAlpha = Math.max(0.15, Math.min(0.7, 60 / rows.length));
      for (const r of rows) {
        const [x, y] = [field.of(r, cut), target.of(r, cut)];
        if (x === null || y === null) continue;
        const at = spot(c, frame, x, y);
        // Many words and whole numbers are at one place.
        if (frame.x.words.length) at[0] += ((r.id * 0.618) % 1 - 0.5) * 10;
        points.push(at);
        c.context.beginPath();
        c.context.arc(...at, 2.2, 0, 2 * Math.PI);
        c.context.fill();
      }
      c.context.globalAlpha = 1;
      if (frame.x.words.length) return;
      c.context.strokeStyle = c.theme.text;
      c.context.lineWidth = 1.5;
      c.context.beginPath();
      medians_of(points).forEach(([x, y], i) => (i ? c.context.lineTo(x, y) : c.context.moveTo(x, y)));
      c.context.stroke();
    },
    [frame, rows, cut, field, target],
  );
  return (
    <figure class="slice">
      <figcaption><a class="id" href={address_of(place, { view: "trials", options: { x: field.name, y: target.name } })}>{field.name}</a></figcaption>
      <Drawing height={slice_height} draw={draw} label={`${target.name} against ${field.name} of ${rows.length} candidates; the link above has them as a table`} />
    </figure>
  );
}

const cells = 28;
const contour_height = 300;

interface Surface {
  values: number[];
  low: number;
  high: number;
  x: Scale;
  y: Scale;
}

/** Values of a scale, cell by cell. */
function steps_of(s: Scale, field: Field): (number | string)[] {
  if (s.words.length) return s.words.map((w) => (field.kind === "choice" ? w : Number(w)));
  return Array.from({ length: cells }, (_, i) => value_at(s, (i + 0.5) / cells));
}

/** Returns the forest's expectation for two fields, a row of cells at a time between frames. */
function use_surface(importance: Importance, cut: number, x: Matter, y: Matter): Surface | null {
  const [surface, set] = useState<Surface | null>(null);
  useEffect(() => {
    const scale = (m: Matter) => scale_of(m.field.name, importance.rows.map((r) => m.field.of(r, cut)))!;
    const scales = { x: scale(x), y: scale(y) };
    const [xs, ys] = [steps_of(scales.x, x.field), steps_of(scales.y, y.field)];
    const step = Math.max(1, Math.floor(importance.rows.length / 40));
    const some = importance.rows.map((_, i) => i).filter((i) => i % step === 0).slice(0, 40);
    const values: number[] = [];
    let timer = 0;
    const next = () => {
      const until = performance.now() + 12;
      while (values.length < xs.length * ys.length) {
        const [i, j] = [values.length % xs.length, Math.floor(values.length / xs.length)];
        values.push(expected_at(importance.forest, some, x.feature, xs[i]!, y.feature, ys[j]!));
        if (performance.now() > until) {
          timer = window.setTimeout(next);
          return;
        }
      }
      set({ ...scales, values, low: values.reduce((a, b) => Math.min(a, b)), high: values.reduce((a, b) => Math.max(a, b)) });
    };
    timer = window.setTimeout(next);
    return () => clearTimeout(timer);
  }, [importance, x.field.name, y.field.name]);
  return surface && surface.x.name === x.field.name && surface.y.name === y.field.name ? surface : null;
}

/** Fitness by two fields at once: what the forest expects as a surface, candidates as dots. */
function Contour({ importance, cut, target, place }: { importance: Importance; cut: number; target: Field; place: Place }) {
  const find = (name: string | undefined, otherwise: Matter) => importance.order.find((m) => m.field.name === name) ?? otherwise;
  const x = find(place.options["cx"], importance.order[0]!);
  const y = find(place.options["cy"], importance.order.find((m) => m !== x) ?? x);
  const surface = use_surface(importance, cut, x, y);
  const fields = importance.order.map((m) => m.field);
  const draw = useCallback((c: Canvas) => surface && draw_surface(c, surface, importance.rows, cut, x.field, y.field), [surface, importance, cut]);
  const table = () => ({
    columns: [x.field.name, y.field.name, `expected ${target.name}`],
    rows: surface ? surface.values.map((v, i) => {
      const xs = steps_of(surface.x, x.field);
      return [xs[i % xs.length]!, steps_of(surface.y, y.field)[Math.floor(i / xs.length)]!, Number(v.toPrecision(6))];
    }) : [],
  });
  return (
    <Panel title="Contour" class="half" note={`${target.name} that the forest expects`}>
      <div class="choices tight">
        <FieldChoice label="Across" fields={fields} chosen={x.field.name} choose={(v) => set_option(place, "cx", v)} />
        <FieldChoice label="Up" fields={fields} chosen={y.field.name} choose={(v) => set_option(place, "cy", v)} />
      </div>
      {surface ? (
        <Chart name={`${target.name} by ${x.field.name} and ${y.field.name}`} table={table}>
          <Drawing height={contour_height} draw={draw} label={`Expected ${target.name} by ${x.field.name} and ${y.field.name}, from ${metric(surface.low)} to ${metric(surface.high)}`} />
          <ul class="legend"><li><i class="key ramp" />{setting(Number(surface.low.toPrecision(4)))} to {setting(Number(surface.high.toPrecision(4)))}</li><li><i class="key ring" />a candidate</li></ul>
        </Chart>
      ) : <p class="empty" role="status">The surface is being computed.</p>}
    </Panel>
  );
}

function draw_surface(c: Canvas, s: Surface, rows: Row[], cut: number, x: Field, y: Field): void {
  const { context, theme } = c;
  const across = s.x.words.length || cells;
  const up = s.y.words.length || cells;
  const [width, height] = [(c.width - inset.left - inset.right) / across, (c.height - inset.top - inset.bottom) / up];
  s.values.forEach((v, i) => {
    const part = s.high > s.low ? (v - s.low) / (s.high - s.low) : 0.5;
    // In ten steps, whose edges are the lines of the contour.
    context.globalAlpha = 0.06 + 0.84 * (Math.min(9, Math.floor(part * 10)) / 9);
    context.fillStyle = theme.accent;
    context.fillRect(inset.left + (i % across) * width, c.height - inset.bottom - (Math.floor(i / across) + 1) * height, width + 0.4, height + 0.4);
  });
  context.globalAlpha = 1;
  draw_frame(c, s, true);
  const step = Math.ceil(rows.length / 400);
  const place = (scale: Scale, v: number | string) => (scale.words.length ? (scale.words.indexOf(String(v)) + 0.5) / scale.words.length : place_on(scale, v));
  rows.forEach((r, i) => {
    const [a, b] = [x.of(r, cut), y.of(r, cut)];
    if (i % step || a === null || b === null) return;
    dot(c, theme, inset.left + place(s.x, a) * (c.width - inset.left - inset.right), c.height - inset.bottom - place(s.y, b) * (c.height - inset.top - inset.bottom));
  });
}

function dot(c: Canvas, theme: Theme, x: number, y: number): void {
  c.context.beginPath();
  c.context.arc(x, y, 2.4, 0, 2 * Math.PI);
  c.context.fillStyle = theme.panel;
  c.context.fill();
  c.context.strokeStyle = theme.text;
  c.context.lineWidth = 1;
  c.context.stroke();
}
