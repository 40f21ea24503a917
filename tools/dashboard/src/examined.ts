import type { Examination, Metrics } from "./model";

// The rows that the table of the end is made of.

export interface Compared {
  examination: Examination;
  /** The metrics of the test data, and, for a candidate, of the validation data. */
  metrics: Metrics;
}

/** The final model, or the champion where there is none: what predictions are made by. */
export function used_model(examinations: Examination[]): Examination | undefined {
  return examinations.find((x) => x.subject === "final model") ?? examinations.find((x) => x.subject === "champion");
}

/** The champion and then the final model last, as the report has them. */
export function compared_of(examinations: Examination[], metrics_of: (id: number) => Metrics | undefined): Compared[] {
  return examinations
    .map((x) => ({ examination: x, metrics: { ...(x.id === null ? {} : metrics_of(x.id)), ...x.metrics } }))
    .toSorted((a, b) => place_of(a.examination) - place_of(b.examination));
}

function place_of(x: Examination): number {
  return x.subject === "final model" ? 2 : x.subject === "champion" ? 1 : 0;
}

/** The objective's metric on validation and test data, then the others in pairs; what is of training is left out. */
export function metrics_shown(compared: Compared[], objective: string): string[] {
  const kind = (name: string) => name.replace(/^(validation|test)\./, "");
  const of_champion = compared.at(-1)?.examination.metrics ?? {};
  const kinds = [kind(objective), ...Object.keys(of_champion).map(kind)];
  const there = new Set(compared.flatMap((c) => Object.keys(c.metrics)));
  const names = [...new Set(kinds)].flatMap((k) => [`validation.${k}`, `test.${k}`]);
  return [...new Set([objective, ...names])].filter((n) => there.has(n) && n !== "parameters");
}

/** Returns for each class how many there are, and how well it is found (precision, recall and their harmonic mean). */
export function class_figures(confusion: number[][]): { examples: number; precision: number | null; recall: number | null; f1: number | null }[] {
  return confusion.map((row, i) => {
    const hits = row[i] ?? 0;
    const examples = row.reduce((a, b) => a + b, 0);
    const taken = confusion.reduce((sum, r) => sum + (r[i] ?? 0), 0);
    const recall = examples ? hits / examples : null;
    const precision = taken ? hits / taken : null;
    const f1 = examples + taken ? (2 * hits) / (examples + taken) : null;
    return { examples, precision, recall, f1 };
  });
}
