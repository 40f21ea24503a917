import type { GenerationLine, Objective, Row } from "./model";
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
  /** By rising parameters and fitness; of several objectives the best in the first one first. */
  front: Row[];
  open: Row[];
  /** Changes when anything of it does. */
  key: string;
}

export function is_evaluated(row: Row, cut: number): boolean {
  return row.evaluated_sequence !== null && row.evaluated_sequence <= cut;
}

/** A metric of the candidate, or its parameters. */
export function measured(row: Row, metric: string): number {
  return (metric === "parameters" ? row.parameters : row.metrics[metric]) ?? NaN;
}

/** By how much it misses the constraints, each as a share of its limit; 0: it is feasible. */
export function violation(row: Row, objective: Objective): number {
  let sum = 0;
  for (const c of objective.constraints) {
    const v = measured(row, c.metric);
    const limit = c.at_most ?? c.at_least!;
    const over = c.at_most !== undefined ? v - limit : limit - v;
    if (over > 0) sum += limit === 0 ? over : over / Math.abs(limit);
  }
  return sum;
}

/** Smaller: `a` is the fitter one, as selection orders them. */
function by_fitness(maximize: boolean, objective: Objective): (a: Row, b: Row) => number {
  const sign = maximize ? -1 : 1;
  return (a, b) => {
    if (a.fitness === null || b.fitness === null) return (a.fitness === null ? 1 : 0) - (b.fitness === null ? 1 : 0);
    const missed = violation(a, objective) - violation(b, objective);
    if (missed) return missed;
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

/** Returns, for several objectives, the feasible rows that none dominates, by the first one, best first. */
function weighed_front(rows: Row[], objective: Objective, fitter: (a: Row, b: Row) => number): Row[] {
  const values = (row: Row) => objective.aims.map((a) => (a.maximize ? 1 : -1) * measured(row, a.metric));
  let front: { row: Row; values: number[] }[] = [];
  for (const row of rows) {
    if (violation(row, objective) > 0) continue;
    const own = values(row);
    if (front.some((other) => other.values.every((v, i) => v >= own[i]!))) continue;
    front = front.filter((other) => !own.every((v, i) => v >= other.values[i]!));
    front.push({ row, values: own });
  }
  return front.map((one) => one.row).sort(fitter);
}

/** Fitness against parameters, by rising parameters: along it fitness rises too. Among candidates equal in
    both, the fitter one stays. The picture's fold does the same (engine/telemetry/picture/picture.cpp). */
export function front_of(rows: Row[], objective: Objective, fitter: (a: Row, b: Row) => number): Row[] {
  const sign = objective.aims[0]!.maximize ? 1 : -1;
  // Without what breaks ties among equal fitness: that is no axis of this front.
  const ahead = (a: Row, b: Row) => violation(b, objective) - violation(a, objective) || sign * (a.fitness! - b.fitness!);
  const front: Row[] = [];
  for (const row of rows) {
    let place = first_in(front.length, (i) => front[i]!.parameters! > row.parameters!);
    const before = front[place - 1];
    if (before) {
      const lead = ahead(row, before);
      const twin = lead === 0 && before.parameters === row.parameters;
      if (twin ? fitter(before, row) < 0 : lead <= 0) continue;
      if (before.parameters === row.parameters) --place;
    }
    let beaten = place;
    while (beaten < front.length && ahead(front[beaten]!, row) <= 0) ++beaten;
    front.splice(place, beaten - place, row);
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
  const fitter = by_fitness(p.maximize, p.objective);
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
  moment.front = p.objective.aims.length > 1 ? weighed_front(ranked, p.objective, fitter) : front_of(ranked, p.objective, fitter);
  return moment;
}
