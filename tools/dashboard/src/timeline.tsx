import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Canvas, Drawing } from "./drawing";
import { clock, date_time, duration, metric } from "./format";
import { HealthPanel } from "./health";
import type { Row } from "./model";
import { is_evaluated, type Moment } from "./moment";
import { CandidateLink, Empty, Panel } from "./parts";
import { go, type Place } from "./place";
import type { Run } from "./run";

// Who trained what and when: a lane for each slot, a bar for each candidate (Gantt). Grey behind them: the slot was
// there.

const lane_height = 24;
const axis_height = 26;

interface Bar {
  row: Row;
  lane: number;
  from: number;
  to: number;
  /** Not evaluated yet. */
  open: boolean;
}

const windows: [string, number][] = [["the whole run", Infinity], ["last hour", 3600], ["last 10 min", 600], ["last minute", 60]];

function bars_of(run: Run, moment: Moment, lanes: string[], now: number): Bar[] {
  const lane = new Map(lanes.map((slot, i) => [slot, i]));
  const bars: Bar[] = [];
  const ended = lanes.map(() => 0);
  for (const row of moment.rows)
    if (row.slot !== null && row.evaluated !== null && row.seconds !== null && is_evaluated(row, moment.cut)) {
      const at = lane.get(row.slot)!;
      bars.push({ row, lane: at, from: row.evaluated - row.seconds * 1000, to: row.evaluated, open: false });
      ended[at] = Math.max(ended[at]!, row.evaluated);
    }
  if (moment.generation === null && run.picture!.showing === "live")
    for (const s of run.slots) {
      const row = s.training === null ? undefined : run.row(s.training);
      const at = lane.get(s.slot)!;
      // What a slot does is told less often than what it has done.
      if (row && row.evaluated === null) bars.push({ row, lane: at, from: Math.max(ended[at]!, now - s.seconds * 1000), to: now, open: true });
    }
  return bars;
}

export function Timeline({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const p = run.picture!;
  const live = p.showing === "live" && moment.generation === null;
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
  const bars = useMemo(() => bars_of(run, moment, lanes, now), [lanes, now, moment.key]);
  const from = Math.max(p.started ?? now, now - seconds * 1000);

  const draw = useCallback(
    (c: Canvas) => {
      c.context.textBaseline = "middle";
      const left = Math.min(c.width / 3, Math.max(...lanes.map((l) => c.context.measureText(l).width)) + 14);
      const b = { from, to: Math.max(now, from + 1000), left, width: c.width - left - 8 };
      bounds.current = b;
      draw_lanes(c, run, lanes, b);
      draw_bars(c, bars, b, pointed);
      draw_time(c, lanes.length, b);
    },
    [bars, lanes, from, now, pointed],
  );

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
          <>
            <Drawing height={lanes.length * lane_height + axis_height} draw={draw}
              label={`${bars.length} evaluations on ${lanes.length} slots from ${clock(from)} to ${clock(now)}`}
              point={(x, y) => point_at(bar_at(x, y))} leave={() => point_at(null)}
              press={(x, y) => {
                const bar = bar_at(x, y);
                if (bar) go(place, { view: "candidate", ids: [bar.row.id] });
              }} />
            <ul class="legend">
              <li><i class="key box accent" />succeeded</li>
              <li><i class="key box bad" />failed</li>
              <li><i class="key box open" />in training</li>
              <li><i class="key box there" />slot is there</li>
              {pointed && (
                <li class="lead">
                  <CandidateLink id={pointed.row.id} place={place} /> {pointed.open ? "in training" : `${pointed.row.outcome} ${metric(pointed.row.fitness)}`} from {clock(pointed.from)}, {duration((pointed.to - pointed.from) / 1000)}
                </li>
              )}
            </ul>
          </>
        ) : <Empty>No slot has joined yet.</Empty>}
      </Panel>
      <HealthPanel run={run} moment={moment} place={place} />
      <Attempts run={run} moment={moment} place={place} />
    </div>
  );
}

function Attempts({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const attempts = run.picture!.attempts.slice(-20).reverse();
  return (
    <Panel title="Attempts that failed" class="two" note={moment.generation === null ? "of machines, not of candidates" : "latest of the whole run"}>
      {attempts.length ? (
        <div class="scroll">
          <table class="lines">
            <thead><tr><th scope="col">candidate</th><th scope="col" class="n">attempt</th><th scope="col">slot</th><th scope="col">why</th></tr></thead>
            <tbody>
              {attempts.map((a) => (
                <tr key={`${a.id}-${a.attempt}-${a.slot}`}><td><CandidateLink id={a.id} place={place} /></td><td class="n">{a.attempt}</td><td>{a.slot}</td><td class="wrap">{a.reason}</td></tr>
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

type Bounds = { from: number; to: number; left: number; width: number };

function x_at(b: Bounds, time: number): number {
  return b.left + Math.max(0, Math.min(1, (time - b.from) / (b.to - b.from))) * b.width;
}

function draw_lanes(c: Canvas, run: Run, lanes: string[], b: Bounds): void {
  const { context, theme } = c;
  lanes.forEach((slot, i) => {
    context.fillStyle = theme.text;
    context.textAlign = "left";
    context.fillText(slot, 0, (i + 0.5) * lane_height, b.left - 10);
    context.fillStyle = theme.line;
    for (const stay of run.picture!.slots) {
      if (stay.slot !== slot || stay.joined > b.to) continue;
      const [from, to] = [x_at(b, stay.joined), x_at(b, stay.left ?? b.to)];
      context.globalAlpha = 0.5;
      context.fillRect(from, i * lane_height + 3, Math.max(1, to - from), lane_height - 6);
      context.globalAlpha = 1;
    }
  });
}

function draw_bars(c: Canvas, bars: Bar[], b: Bounds, pointed: Bar | null): void {
  const { context, theme } = c;
  // What would be drawn over by its neighbour anyway is left out.
  const drawn: number[] = [];
  for (const bar of bars) {
    if (bar.to < b.from || bar.from > b.to) continue;
    const [from, to] = [x_at(b, bar.from), x_at(b, bar.to)];
    const failed = !bar.open && bar.row.fitness === null;
    const y = bar.lane * lane_height + 5;
    const width = Math.max(1, to - from - 0.75);
    if (failed && width < 2) {
      // Where there are many, a notch: it must not hide the others.
      context.fillStyle = theme.bad;
      context.fillRect(from, y - 4, 1, 5);
      continue;
    }
    if (bar !== pointed && to < (drawn[bar.lane] ?? -1) + 0.5) continue;
    drawn[bar.lane] = to;
    context.fillStyle = failed ? theme.bad : theme.accent;
    context.globalAlpha = bar === pointed ? 1 : 0.8;
    if (bar.open) {
      context.strokeStyle = theme.accent;
      context.strokeRect(from + 0.5, y + 0.5, Math.max(1, width - 1), lane_height - 11);
      context.globalAlpha = 0.25;
    }
    // Failures are taller, so that they are not told by colour alone.
    context.fillRect(from, failed ? y - 3 : y, width, failed ? lane_height - 4 : lane_height - 10);
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
