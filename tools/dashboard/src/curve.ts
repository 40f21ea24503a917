import type { Candidate, Metrics } from "./model";

export interface Curve {
  id: number;
  epochs: { number: number; metrics: Metrics }[];
  /** How many there will be. */
  of?: number | undefined;
  /** The epoch whose weights were kept and gave the fitness. */
  counts?: number | undefined;
}

/** The first epoch with all metrics that the candidate is known by: that was the best, and its weights were kept. */
export function epoch_that_counts(evaluation: { metrics: Metrics; curve: { number: number; metrics: Metrics }[] }): number | undefined {
  return evaluation.curve.find((e) => {
    const names = Object.keys(e.metrics).filter((n) => n in evaluation.metrics);
    return names.length > 0 && names.every((n) => e.metrics[n] === evaluation.metrics[n]);
  })?.number;
}

/** Returns the curve of a candidate that is evaluated. */
export function finished_curve(c: Candidate): Curve {
  return { id: c.id, epochs: c.evaluation?.curve ?? [], counts: c.evaluation ? epoch_that_counts(c.evaluation) : undefined };
}

export function metric_names(curves: Curve[]): string[] {
  return [...new Set(curves.flatMap((c) => c.epochs.flatMap((e) => Object.keys(e.metrics))))].sort();
}

/** The epoch that is named beside a curve: the one that counts, else the last so far. */
export function seen_of(c: Curve): Curve["epochs"][number] | undefined {
  return c.epochs.find((e) => e.number === c.counts) ?? c.epochs.at(-1);
}
