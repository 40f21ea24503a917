import type { Row } from "./model";
import { is_evaluated } from "./moment";

// Fields are what candidates can be arranged by: what a query knows, and how many layers of each operator they have.

export interface Field {
  name: string;
  /** "choice": words, or so few numbers that each stands for itself. */
  kind: "number" | "choice" | "time";
  group: "candidate" | "hyperparameter" | "network" | "metric";
  /** Null: the candidate has none, or it is not known by then. */
  of: (row: Row, cut: number) => number | string | null;
}

export interface Names {
  hyperparameters: string[];
  operators: string[];
  metrics: string[];
}

const once = (of: (r: Row) => number | null) => (r: Row, cut: number) => (is_evaluated(r, cut) ? of(r) : null);

/** "conv layers": the field of how many there are. */
export function layers_of(operator: string): string {
  return `${operator} layers`;
}

/** All fields of a run; `rows` is a sample that shows which hyperparameters are numbers. */
export function fields_of(rows: Row[], names: Names): Field[] {
  const is_number = (name: string) => rows.every((r) => r.hyperparameters[name] === undefined || typeof r.hyperparameters[name] === "number");
  return [
    { name: "time", kind: "time", group: "candidate", of: once((r) => (r.evaluated ?? 0) / 1000) },
    { name: "id", kind: "number", group: "candidate", of: (r) => r.id },
    { name: "generation", kind: "number", group: "candidate", of: (r) => r.generation },
    { name: "tags", kind: "choice", group: "candidate", of: (r) => r.tags?.join(" ") || null },
    { name: "seconds", kind: "number", group: "candidate", of: once((r) => r.seconds) },
    { name: "parameters", kind: "number", group: "network", of: once((r) => r.parameters) },
    { name: "nodes", kind: "number", group: "network", of: (r) => r.nodes },
    ...names.operators.map((name): Field => ({ name: layers_of(name), kind: "number", group: "network", of: (r) => r.operators[name] ?? 0 })),
    ...names.hyperparameters.map((name): Field => ({ name, kind: is_number(name) ? "number" : "choice", group: "hyperparameter", of: (r) => r.hyperparameters[name] ?? null })),
    ...names.metrics.map((name): Field => ({ name, kind: "number", group: "metric", of: once((r) => r.metrics[name] ?? null) })),
  ];
}
