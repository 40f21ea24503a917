import type { Row } from "./model";
import { is_evaluated } from "./moment";

// A query finds candidates: words, which must all occur, and conditions on a column, a hyperparameter or a
// metric.
//
//   query     := { word | condition }
//   condition := name operator value          fitness>0.9   outcome:crashed   optimiser=adam   g=3
//                                             tag:good      tag!=maybe
//   operator  := ":" | "=" | "!=" | ">" | ">=" | "<" | "<="
//
// Either may be in double quotes, and then has blanks in it. A condition on something that a candidate has not is false.

export type Test = (row: Row, cut: number) => boolean;
export type Query = { test: Test | null; problem: string | null };

const columns: Record<string, (row: Row, cut: number) => number | string | null> = {
  id: (r) => r.id,
  generation: (r) => r.generation,
  index: (r) => r.index,
  nodes: (r) => r.nodes,
  origin: (r) => r.origin,
  parent: (r) => r.parents.join(" "),
  outcome: (r, cut) => (is_evaluated(r, cut) ? r.outcome : "open"),
  fitness: (r, cut) => (is_evaluated(r, cut) ? r.fitness : null),
  parameters: (r, cut) => (is_evaluated(r, cut) ? r.parameters : null),
  seconds: (r, cut) => (is_evaluated(r, cut) ? r.seconds : null),
  slot: (r, cut) => (is_evaluated(r, cut) ? r.slot : null),
  reason: (r, cut) => (is_evaluated(r, cut) ? r.reason : null),
};
columns["tags"] = (r) => r.tags?.join(" ") || null;
columns["note"] = (r) => r.note ?? null;
columns["g"] = columns["generation"]!;

export function value_of(row: Row, name: string, cut: number): number | string | null {
  const column = columns[name];
  if (column) return column(row, cut);
  return row.hyperparameters[name] ?? (is_evaluated(row, cut) ? (row.metrics[name] ?? null) : null);
}

function text_of(row: Row): string {
  row.text ??= `#${row.id} ${row.origin} ${row.slot ?? ""} ${row.outcome ?? "open"} ${row.reason ?? ""} ${row.tags?.join(" ") ?? ""} ${row.note ?? ""} ${Object.entries(
    row.hyperparameters,
  )
    .map(([name, v]) => `${name}=${v}`)
    .join(" ")}`.toLowerCase();
  return row.text;
}

/** Makes the texts of rows while there is nothing else to do, so that the first search is as quick as all others. */
export function prepare(rows: Row[]): void {
  let next = 0;
  const some = (deadline: IdleDeadline) => {
    for (; next < rows.length && deadline.timeRemaining() > 1; next += 100) rows.slice(next, next + 100).forEach(text_of);
    if (next < rows.length) requestIdleCallback(some);
  };
  if ("requestIdleCallback" in window) requestIdleCallback(some);
}

function compare(found: number | string, operator: string, wanted: string): boolean {
  const number = Number(wanted);
  if (typeof found === "number" && wanted !== "" && !Number.isNaN(number)) {
    switch (operator) {
      case ">": return found > number;
      case ">=": return found >= number;
      case "<": return found < number;
      case "<=": return found <= number;
      case "!=": return found !== number;
      default: return found === number;
    }
  }
  const text = String(found).toLowerCase();
  switch (operator) {
    case ":": return text.includes(wanted);
    case "=": return text === wanted;
    case "!=": return text !== wanted;
    default: return false;
  }
}

/** ":" and "=" ask for the whole tag; "!=" for candidates that do not have it. */
function has_tag(row: Row, operator: string, wanted: string): boolean {
  const has = row.tags?.some((t) => t.toLowerCase() === wanted) ?? false;
  return operator === "!=" ? !has : has;
}

export function parse_query(text: string, known: (name: string) => boolean): Query {
  const tests: Test[] = [];
  for (const [part] of text.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)) {
    const plain = part.replaceAll('"', "").toLowerCase();
    const condition = /^([a-z_][\w.]*)(>=|<=|!=|[:=<>])(.*)$/.exec(plain);
    if (!condition) {
      tests.push((row) => text_of(row).includes(plain));
      continue;
    }
    const [, name = "", operator = "", wanted = ""] = condition;
    if (name === "tag" && wanted !== "") {
      tests.push((row) => has_tag(row, operator, wanted));
      continue;
    }
    if (!(name in columns) && name !== "tag" && !known(name)) return { test: null, problem: `nothing is called “${name}”` };
    if (wanted === "") return { test: null, problem: `${name}${operator} wants a value` };
    if (/[<>]/.test(operator) && Number.isNaN(Number(wanted)))
      return { test: null, problem: `${name}${operator} wants a number` };
    tests.push((row, cut) => {
      const found = value_of(row, name, cut);
      return found !== null && compare(found, operator, wanted);
    });
  }
  if (!tests.length) return { test: null, problem: null };
  return { test: (row, cut) => tests.every((t) => t(row, cut)), problem: null };
}
