import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Bar, bars_of, type Bounds, rectangles_of, use_of, x_at } from "./bars";
import { Chart } from "./chart_tools";
import { type Canvas, Drawing } from "./drawing";
import { clock, counted, date_time, duration, metric, rounded } from "./format";
import { HealthPanel } from "./health";
import { is_evaluated, type Moment } from "./moment";
import { is_jobs, Named } from "./named";
import { Empty, Panel } from "./parts";
import { go, type Place } from "./place";
import type { Run } from "./run";

// Who trained what and when: a lane for each slot, a bar for each candidate (Gantt). Grey behind them: the slot was
// there.

const lane_height = 24;
const axis_height = 26;

const windows: [string, number][] = [["the whole run", Infinity], ["last hour", 3600], ["last 10 min", 600], ["last minute", 60]];

export function Timeline({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const p = run.picture!;
  const live = p.showing === "live" && moment.generation === null;
  const at_work = is_jobs(p) ? "running" : "in training";
  const [seconds, set_seconds] = useState(Infinity);
  const [pointed, point_at] = useState<Bar | null>(null);
  const bounds = useRef({ from: 0, to: 1, left: 0, width: 1 });
  const now = useNow(live, moment.time);
  const lanes = useMemo(() => {
    const names = new Set(p.slots.map((s) => s.slot));
    for (const r of moment.rows) if (r.slot !== null && is_evaluated(r, moment.cut)) names.add(r.slot);
    for (const s of run.slots) names.add(s.slot);
    return [...names].sort();
  }, [moment.key, run.slots]);
  const bars = useMemo(() => bars_of(p, run.slots, (id) => run.row(id), moment, lanes, now), [lanes, now, moment.key]);
  const from = Math.max(p.started ?? now, now - seconds * 1000);

  const draw = useCallback(
    (c: Canvas) => {
      c.context.textBaseline = "middle";
      const left = Math.min(c.width / 3, Math.max(...lanes.map((l) => c.context.measureText(l).width)) + 14);
      const b = { from, to: Math.max(now, from + 1000), left, width: c.width - left - 8 };
      bounds.current = b;
      draw_lanes(c, run, lanes, b, now);
      draw_bars(c, bars, b, pointed);
      draw_time(c, lanes.length, b);
    },
    [bars, lanes, from, now, pointed],
  );

  const table = () => ({
    columns: ["slot", "evaluations", "failed", "busy seconds", "seconds there", "busy share"],
    rows: use_of(bars, lanes, p, { from, to: now }).map((u) => [
      u.slot, u.candidates, u.failed, rounded(u.busy_seconds, 3), rounded(u.there_seconds, 3),
      u.there_seconds > 0 ? rounded(Math.min(1, u.busy_seconds / u.there_seconds), 4) : null,
    ]),
  });

  function bar_at(x: number, y: number): Bar | null {
    const b = bounds.current;
    const lane = Math.floor(y / lane_height);
    const time = b.from + ((x - b.left) / b.width) * (b.to - b.from);
    const slack = (2 / b.width) * (b.to - b.from);
    return bars.find((one) => one.lane === lane && time >= one.from - slack && time <= one.to + slack) ?? null;
  }

  return (
    <div class="grid">
      <Panel title="Timeline of slots" wide
        note={
          <label class="choice">
            <span class="sr">Time shown</span>
            <select value={String(seconds)} onChange={(e) => set_seconds(Number(e.currentTarget.value))}>
              {windows.map(([name, s]) => <option key={name} value={String(s)}>{name}</option>)}
            </select>
          </label>
        }>
        {lanes.length ? (
          <Chart name="Timeline of slots" table={table}>
            <Drawing height={lanes.length * lane_height + axis_height} draw={draw}
              label={`${counted(bars.length, "evaluation")} on ${counted(lanes.length, "slot")} from ${clock(from)} to ${clock(now)}`}
              point={(x, y) => point_at(bar_at(x, y))} leave={() => point_at(null)}
              press={(x, y) => {
                const bar = bar_at(x, y);
                if (bar && !is_jobs(p)) go(place, { view: "candidate", ids: [bar.row.id] });
              }} />
            <ul class="legend">
              <li><i class="key box accent" />succeeded</li>
              <li><i class="key box bad" />failed</li>
              <li><i class="key box open" />{at_work}</li>
              <li><i class="key box there" />slot is there</li>
              {pointed && (
                <li class="lead">
                  <Named run={run} id={pointed.row.id} place={place} /> {pointed.open ? at_work : is_jobs(p) ? pointed.row.outcome : `${pointed.row.outcome} ${metric(pointed.row.fitness)}`} from {clock(pointed.from)}, {duration((pointed.to - pointed.from) / 1000)}
                </li>
              )}
            </ul>
          </Chart>
        ) : <Empty>No slot has joined yet.</Empty>}
      </Panel>
      <HealthPanel run={run} moment={moment} place={place} />
      <Attempts run={run} moment={moment} place={place} />
    </div>
  );
}

function Attempts({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const attempts = run.picture!.attempts.slice(-20).reverse();
  const what = is_jobs(run.picture!) ? "job" : "candidate";
  return (
    <Panel title="Attempts that failed" class="two" note={moment.generation === null ? `of machines, not of ${what}s` : "latest of the whole run"}>
      {attempts.length ? (
        <div class="scroll">
          <table class="lines">
            <thead><tr><th scope="col">{what}</th><th scope="col" class="n">attempt</th><th scope="col">slot</th><th scope="col">why</th></tr></thead>
            <tbody>
              {attempts.map((a) => (
                <tr key={`${a.id}-${a.attempt}-${a.slot}`}><td><Named run={run} id={a.id} place={place} /></td><td class="n">{a.attempt}</td><td>{a.slot}</td><td class="wrap">{a.reason}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : <Empty>None.</Empty>}
    </Panel>
  );
}

/** Moves by itself only while somebody looks at a run that is live. */
function useNow(live: boolean, otherwise: number): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => set(Date.now()), 500);
    return () => clearInterval(timer);
  }, [live]);
  return live ? now : otherwise;
}

function draw_lanes(c: Canvas, run: Run, lanes: string[], b: Bounds, now: number): void {
  const { context, theme } = c;
  lanes.forEach((slot, i) => {
    context.fillStyle = theme.text;
    context.textAlign = "left";
    context.fillText(slot, 0, (i + 0.5) * lane_height, b.left - 10);
    context.fillStyle = theme.line;
    for (const stay of run.picture!.slots) {
      if (stay.slot !== slot || stay.joined > b.to) continue;
      const [from, to] = [x_at(b, stay.joined), x_at(b, stay.left ?? now)];
      context.globalAlpha = 0.5;
      context.fillRect(from, i * lane_height + 3, Math.max(1, to - from), lane_height - 6);
      context.globalAlpha = 1;
    }
  });
}

function draw_bars(c: Canvas, bars: Bar[], b: Bounds, pointed: Bar | null): void {
  const { context, theme } = c;
  for (const { bar, from, width, kind } of rectangles_of(bars, b)) {
    const y = bar.lane * lane_height + 5;
    context.fillStyle = kind === "bar" ? theme.accent : theme.bad;
    if (kind === "notch") {
      context.fillRect(from, y - 4, 1, 5);
      continue;
    }
    context.globalAlpha = bar === pointed ? 1 : 0.8;
    if (bar.open) {
      context.strokeStyle = theme.accent;
      context.strokeRect(from + 0.5, y + 0.5, Math.max(1, width - 1), lane_height - 11);
      context.globalAlpha = 0.25;
    }
    // Failures are taller, so that they are not told by colour alone.
    context.fillRect(from, kind === "failed" ? y - 3 : y, width, kind === "failed" ? lane_height - 4 : lane_height - 10);
    context.globalAlpha = 1;
  }
}

function draw_time(c: Canvas, lanes: number, b: Bounds): void {
  const { context, theme } = c;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800];
  const wanted = ((b.to - b.from) / 1000) * (80 / b.width);
  const step = (steps.find((s) => s >= wanted) ?? 604800) * 1000;
  context.textAlign = "center";
  context.lineWidth = 1;
  for (let t = Math.ceil(b.from / step) * step; t <= b.to; t += step) {
    const x = Math.round(x_at(b, t)) + 0.5;
    context.strokeStyle = theme.line;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, lanes * lane_height + 4);
    context.stroke();
    context.fillStyle = theme.muted;
    context.fillText(step < 86_400_000 ? clock(t) : date_time(t).slice(5, 10), Math.min(x, b.left + b.width - 20), lanes * lane_height + 15);
  }
}
