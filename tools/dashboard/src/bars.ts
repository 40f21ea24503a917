import type { Picture, Row, SlotNow } from "./model";
import { is_evaluated, type Moment } from "./moment";

// The shapes that the timeline of slots draws, without a canvas.

/** One piece of a slot's work. */
export interface Bar {
  row: Row;
  lane: number;
  /** Milliseconds. */
  from: number;
  to: number;
  /** Not evaluated yet. */
  open: boolean;
}

/** The time that is drawn, and where. */
export interface Bounds {
  from: number;
  to: number;
  left: number;
  width: number;
}

export interface Rectangle {
  bar: Bar;
  from: number;
  width: number;
  /** A notch: a failure that took too little time for a bar of its own. */
  kind: "bar" | "failed" | "notch";
}

export function x_at(b: Bounds, time: number): number {
  return b.left + Math.max(0, Math.min(1, (time - b.from) / (b.to - b.from))) * b.width;
}

/** By the time at which they end; candidates are known in the order of their birth, which is another one. */
export function bars_of(picture: Picture, slots: SlotNow[], row_of: (id: number) => Row | undefined, moment: Moment, lanes: string[], now: number): Bar[] {
  const lane = new Map(lanes.map((slot, i) => [slot, i]));
  const bars: Bar[] = [];
  const ended = lanes.map(() => 0);
  for (const row of moment.rows)
    if (row.slot !== null && row.evaluated !== null && row.seconds !== null && is_evaluated(row, moment.cut)) {
      const at = lane.get(row.slot)!;
      bars.push({ row, lane: at, from: row.evaluated - row.seconds * 1000, to: row.evaluated, open: false });
      ended[at] = Math.max(ended[at]!, row.evaluated);
    }
  if (moment.generation === null && picture.showing === "live")
    for (const s of slots) {
      const row = s.training === null ? undefined : row_of(s.training);
      const at = lane.get(s.slot)!;
      // The present work of a slot is told less often than its past work.
      if (row && row.evaluated === null) bars.push({ row, lane: at, from: Math.max(ended[at]!, now - s.seconds * 1000), to: now, open: true });
    }
  return one_at_a_time(bars.sort((a, b) => a.to - b.to || a.row.id - b.row.id), lanes.length);
}

/** A slot does one thing at a time: results that were recorded together came one after another. */
function one_at_a_time(sorted: Bar[], lanes: number): Bar[] {
  const next = new Array<number>(lanes).fill(Infinity);
  for (const bar of sorted.toReversed()) {
    const late = Math.max(0, bar.to - next[bar.lane]!);
    bar.from -= late;
    bar.to -= late;
    next[bar.lane] = bar.from;
  }
  return sorted;
}

/** Returns the rectangles that are drawn of bars that are sorted by their end: all but those that a
    neighbour of their lane covers to half a pixel. */
export function rectangles_of(bars: Bar[], b: Bounds): Rectangle[] {
  const drawn: number[] = [];
  const rectangles: Rectangle[] = [];
  for (const bar of bars) {
    if (bar.to < b.from || bar.from > b.to) continue;
    const [from, to] = [x_at(b, bar.from), x_at(b, bar.to)];
    const failed = !bar.open && bar.row.fitness === null;
    const width = Math.max(1, to - from - 0.75);
    if (failed && width < 2) {
      // If there are many, a notch: it must not hide the others.
      rectangles.push({ bar, from, width: 1, kind: "notch" });
      continue;
    }
    if (to < (drawn[bar.lane] ?? -1) + 0.5 && from >= (drawn[bar.lane] ?? -1) - 0.5) continue;
    drawn[bar.lane] = Math.max(drawn[bar.lane] ?? -1, to);
    rectangles.push({ bar, from, width, kind: failed ? "failed" : "bar" });
  }
  return rectangles;
}

/** The use of a slot in the time that is drawn. */
export interface SlotUse {
  slot: string;
  candidates: number;
  failed: number;
  busy_seconds: number;
  there_seconds: number;
}

export function use_of(bars: Bar[], lanes: string[], picture: Picture, b: { from: number; to: number }): SlotUse[] {
  const clip = (from: number, to: number) => Math.max(0, Math.min(to, b.to) - Math.max(from, b.from)) / 1000;
  const uses = lanes.map((slot): SlotUse => ({ slot, candidates: 0, failed: 0, busy_seconds: 0, there_seconds: 0 }));
  for (const stay of picture.slots) {
    const use = uses[lanes.indexOf(stay.slot)];
    if (use) use.there_seconds += clip(stay.joined, stay.left ?? b.to);
  }
  for (const bar of bars) {
    const use = uses[bar.lane];
    if (!use || bar.to < b.from || bar.from > b.to) continue;
    ++use.candidates;
    if (!bar.open && bar.row.fitness === null) ++use.failed;
    use.busy_seconds += clip(bar.from, bar.to);
  }
  return uses;
}
