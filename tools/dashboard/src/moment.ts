import type { GenerationLine, Row } from "./model";
import type { Run } from "./run";

/** A run as it was when a generation had just been closed, or as it is. All of it follows from the rows, as each knows
    after which record it was born and evaluated. */
export interface Moment {
  /** Null: now. */
  generation: number | null;
  /** Records up to this one had happened. */
  cut: number;
  /** When it was. */
  time: number;
  rows: Row[];
  /** All candidates were here, not only those that came since. */
  complete: boolean;
  generations: GenerationLine[];
  evaluated: number;
  failed: number;
  seconds: number;
  outcomes: Map<string, number>;
  /** The five fittest. */
  best: Row[];
  /** By rising parameters and fitness. */
  front: Row[];
  open: Row[];
  /** Changes when anything of it does. */
  key: string;
}

export function is_evaluated(row: Row, cut: number): boolean {
  return row.evaluated_sequence !== null && row.evaluated_sequence <= cut;
}

/** Smaller: `a` is the fitter one, as selection orders them. */
export function by_fitness(maximize: boolean): (a: Row, b: Row) => number {
  const sign = maximize ? -1 : 1;
  return (a, b) => {
    if (a.fitness === null || b.fitness === null) return (a.fitness === null ? 1 : 0) - (b.fitness === null ? 1 : 0);
    if (a.fitness !== b.fitness) return sign * (a.fitness - b.fitness);
    const losses = (a.metrics["validation.loss"] ?? Infinity) - (b.metrics["validation.loss"] ?? Infinity);
    return losses || a.id - b.id;
  };
}

/** The first of so many for which it is true, as it is for all behind it. */
export function first_in(count: number, is: (i: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** As the picture's fold does it (engine/telemetry/picture.cpp). */
function front_of(rows: Row[], fitter: (a: Row, b: Row) => number): Row[] {
  const front: Row[] = [];
  for (const row of rows) {
    const place = first_in(front.length, (i) => front[i]!.parameters! > row.parameters! || (front[i]!.parameters === row.parameters && fitter(row, front[i]!) < 0));
    if (place > 0 && fitter(row, front[place - 1]!) > 0) continue;
    let worse = place;
    while (worse < front.length && fitter(row, front[worse]!) < 0) ++worse;
    front.splice(place, worse - place, row);
  }
  return front;
}

function five_best(rows: Row[], fitter: (a: Row, b: Row) => number): Row[] {
  const best: Row[] = [];
  for (const row of rows) {
    if (best.length === 5 && fitter(best[4]!, row) <= 0) continue;
    best.push(row);
    best.sort(fitter);
    best.length = Math.min(best.length, 5);
  }
  return best;
}

export function moment_of(run: Run, generation: number | null): Moment | null {
  const p = run.picture;
  if (!p) return null;
  const line = p.generations.find((g) => g.generation === generation);
  const cut = line ? line.closed_sequence : run.sequence;
  // They are in the order of their birth.
  const rows = run.rows.slice(0, first_in(run.rows.length, (i) => run.rows[i]!.born_sequence > cut));
  const fitter = by_fitness(p.maximize);
  const moment: Moment = {
    generation: line ? line.generation : null,
    cut,
    time: line ? line.closed : (p.time ?? 0),
    rows,
    complete: run.complete,
    generations: line ? p.generations.filter((g) => g.generation <= line.generation) : p.generations,
    evaluated: 0,
    failed: 0,
    seconds: 0,
    outcomes: new Map(),
    best: [],
    front: [],
    open: [],
    key: `${run.rows_version}/${cut}`,
  };
  const ranked: Row[] = [];
  for (const row of rows) {
    if (!is_evaluated(row, cut)) {
      moment.open.push(row);
      continue;
    }
    ++moment.evaluated;
    moment.seconds += row.seconds ?? 0;
    moment.outcomes.set(row.outcome!, (moment.outcomes.get(row.outcome!) ?? 0) + 1);
    if (row.fitness === null) ++moment.failed;
    else if (row.equal_to === null) ranked.push(row);
  }
  moment.best = five_best(ranked, fitter);
  moment.front = front_of(ranked, fitter);
  return moment;
}
