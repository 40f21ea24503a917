import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { csv_text, type Table } from "./csv";
import type { Names } from "./fields";
import { clock, count, duration, metric, setting } from "./format";
import type { Row } from "./model";
import { is_evaluated, type Moment } from "./moment";
import { CandidateLink, Outcome, Panel } from "./parts";
import { go, type Place, set_option } from "./place";
import { parse_query, value_of } from "./query";
import type { Run } from "./run";
import { save } from "./save";
import { type Column, VirtualTable } from "./virtual_table";

/** Names that a query may use beside the columns. */
export function use_names(run: Run): Names {
  // A sample is enough: all candidates of a run come from one search space.
  return useMemo(() => {
    const step = Math.max(1, Math.floor(run.rows.length / 500));
    const some = run.rows.filter((_, i) => i % step === 0);
    const names = (of: (r: Row) => object) => [...new Set(some.flatMap((r) => Object.keys(of(r))))].sort();
    return { hyperparameters: names((r) => r.hyperparameters), operators: names((r) => r.operators), metrics: names((r) => r.metrics) };
  }, [Math.floor(Math.log2(run.rows.length + 1)), run.complete, run.picture?.evaluated === 0]);
}

/** Returns the rows of the moment that the query finds. */
export function use_found(run: Run, moment: Moment, query: string): { found: Row[]; problem: string | null } {
  const names = use_names(run);
  const parsed = useMemo(
    () => parse_query(query, (name) => names.hyperparameters.includes(name) || names.metrics.includes(name)),
    [query, names],
  );
  const found = useMemo(() => {
    const test = parsed.test;
    return test ? moment.rows.filter((r) => test(r, moment.cut)) : moment.rows;
  }, [parsed, moment.key]);
  return { found, problem: parsed.problem };
}

/** Sorts `rows`; those whose value is known come before the others, whichever way. */
function sorted(rows: Row[], sort: string, cut: number): Row[] {
  const falling = sort.startsWith("-");
  const name = falling ? sort.slice(1) : sort;
  if (name === "id") return falling ? rows.toReversed() : rows;
  const sign = falling ? -1 : 1;
  const keys = rows.map((r) => (name === "time" ? (is_evaluated(r, cut) ? r.evaluated : null) : value_of(r, name, cut)));
  if (keys.every((k) => k === null || typeof k === "number")) return sorted_by_numbers(rows, keys as (number | null)[], sign);
  const order = rows.map((_, i) => i);
  order.sort((a, b) => {
    const [x, y] = [keys[a]!, keys[b]!];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
    return (x < y ? -sign : x > y ? sign : 0) || a - b;
  });
  return order.map((i) => rows[i]!);
}

/** Sorts by numbers without a look at the type of each, which takes most of the time. */
function sorted_by_numbers(rows: Row[], keys: (number | null)[], sign: number): Row[] {
  const values = Float64Array.from(keys, (k) => (k === null ? Infinity : sign * k));
  const order = Uint32Array.from(rows, (_, i) => i);
  order.sort((a, b) => (values[a]! < values[b]! ? -1 : values[a]! > values[b]! ? 1 : a - b));
  return Array.from(order, (i) => rows[i]!);
}

/** A column that can be chosen. The `usual` ones are shown where nobody has chosen otherwise. */
interface Choosable extends Column<Row> {
  group: string;
  usual: boolean;
}

function columns_of(moment: Moment, place: Place, objective: string, names: Names, annotated: boolean): Choosable[] {
  const known = (r: Row) => is_evaluated(r, moment.cut);
  const one = (name: string, title: string, width: number, cell: Column<Row>["cell"], numeric = true): Choosable =>
    ({ name, title, width, cell, numeric, group: "Candidate", usual: true });
  return [
    one("id", "id", 76, (r) => <CandidateLink id={r.id} place={place} />),
    one("generation", "gen", 52, (r) => r.generation),
    one("fitness", objective, 96, (r) => (known(r) ? metric(r.fitness) : "–")),
    one("outcome", "outcome", 116, (r) => <Outcome row={r} cut={moment.cut} />, false),
    one("parameters", "parameters", 100, (r) => (known(r) ? count(r.parameters) : "–")),
    one("nodes", "nodes", 64, (r) => r.nodes),
    one("seconds", "trained", 88, (r) => (known(r) ? duration(r.seconds) : "–")),
    one("time", "at", 84, (r) => (known(r) ? clock(r.evaluated) : "–")),
    one("slot", "slot", 150, (r) => (known(r) ? r.slot : ""), false),
    ...names.hyperparameters.map((name): Choosable => ({ name, title: name, width: width_of(name), numeric: true, group: "Hyperparameters", usual: false, cell: (r) => setting(r.hyperparameters[name]) })),
    ...names.metrics.map((name): Choosable => ({ name, title: name, width: width_of(name), numeric: true, group: "Metrics", usual: false, cell: (r) => (known(r) ? metric(r.metrics[name]) : "–") })),
    { ...one("tags", "tags", 140, (r) => r.tags?.join(" ") ?? "", false), usual: annotated },
    { ...one("note", "note", 220, (r) => <span title={r.note ?? ""}>{r.note ?? ""}</span>, false), usual: annotated },
    one("origin", "how it came to be", 260, (r) => <span title={r.reason ?? r.origin}>{r.origin}</span>, false),
  ];
}

/** Returns the width of a column that fits its title, the arrow and its numbers. */
function width_of(title: string): number {
  return Math.max(88, 36 + 7 * title.length);
}

function ColumnChoice({ all, shown, place }: { all: Choosable[]; shown: Choosable[]; place: Place }) {
  const turn = (name: string, on: boolean) => {
    const names = all.filter((c) => (c.name === name ? on : shown.includes(c))).map((c) => c.name);
    const usual = all.filter((c) => c.usual).map((c) => c.name);
    set_option(place, "columns", names.join() === usual.join() ? "" : names.join());
  };
  return (
    <details class="columns">
      <summary>Columns: {shown.length} of {all.length}</summary>
      <div>
        {[...new Set(all.map((c) => c.group))].map((group) => (
          <>
            <h3>{group}</h3>
            {all.filter((c) => c.group === group && c.name !== "id").map((c) => (
              <label key={c.name}><input type="checkbox" checked={shown.includes(c)} onChange={(e) => turn(c.name, e.currentTarget.checked)} />{c.title}</label>
            ))}
          </>
        ))}
      </div>
    </details>
  );
}

/** All that is known of candidates, for other programs. */
function table_of(rows: Row[], names: Names, cut: number): Table {
  const columns = ["id", "generation", "index", "outcome", "fitness", "parameters", "nodes", "seconds", "slot", "origin", "reason", "tags", "note", ...names.hyperparameters, ...names.metrics];
  return { columns: [...columns, "parents"], rows: rows.map((r) => [...columns.map((c) => value_of(r, c, cut)), r.parents.join(" ")]) };
}

/** The search field; what is typed is in the address, and parallel coordinates have the same. */
export function QueryField({ place, problem, names }: { place: Place; problem: string | null; names: string[] }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, set_text] = useState(place.query);
  useEffect(() => {
    if (document.activeElement !== field.current) set_text(place.query);
  }, [place.query]);
  // Before anybody sees the field, and so before anybody can press a key for it.
  useLayoutEffect(() => {
    const slash = (e: KeyboardEvent) => {
      if (e.key !== "/" || e.ctrlKey || e.metaKey || (e.target as Element).closest("input, select, textarea")) return;
      e.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", slash);
    return () => removeEventListener("keydown", slash);
  }, []);
  return (
    <div class="query">
      <label for="query">Find</label>
      <input id="query" ref={field} type="search" value={text} autocomplete="off" spellcheck={false} list="names"
        placeholder="conv fitness>0.9 outcome:crashed learning_rate<0.01" aria-invalid={problem !== null} aria-describedby="query-says"
        onInput={(e) => {
          set_text(e.currentTarget.value);
          go(place, { query: e.currentTarget.value }, true);
        }} />
      <datalist id="names">{names.map((n) => <option key={n} value={`${n}=`} />)}</datalist>
      <span id="query-says" class={problem ? "problem" : "sr"} role="status">{problem ?? ""}</span>
    </div>
  );
}

export function Candidates({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const names = use_names(run);
  const { found, problem } = use_found(run, moment, place.query);
  const rows = useMemo(() => sorted(found, place.sort, moment.cut), [found, place.sort, moment.cut]);
  const annotated = run.annotations.size > Number(run.annotations.has(0));
  const all = useMemo(
    () => columns_of(moment, place, run.picture!.metric.replace(/^validation\./, ""), names, annotated),
    [moment.cut, place, run.picture!.metric, names, annotated],
  );
  const chosen = place.options["columns"]?.split(",");
  const columns = all.filter((c) => (chosen ? chosen.includes(c.name) || c.name === "id" : c.usual));
  const note = `${count(rows.length)} of ${count(moment.rows.length)}${moment.complete ? "" : ", loading"}`;
  return (
    <Panel title="Candidates" class="fill" wide
      note={<span role="status" data-test="found">{note}</span>}>
      <QueryField place={place} problem={problem} names={[...names.hyperparameters, ...names.metrics]} />
      <div class="under">
        <ColumnChoice all={all} shown={columns} place={place} />
        <button type="button" class="quiet" aria-label="CSV: Candidates" onClick={() => save("candidates.csv", "text/csv", csv_text(table_of(rows, names, moment.cut)))}>CSV</button>
      </div>
      <VirtualTable label="Candidates" columns={columns} rows={rows} id_of={(r) => r.id} sort={place.sort}
        sort_by={(sort) => go(place, { sort }, true)}
        open={(r) => go(place, { view: "candidate", ids: [r.id] })}
        on_key={(key, r) => key === "c" && go(place, { view: "compare", ids: [moment.best[0]?.id ?? r.id, r.id] })} />
      <p class="hint">
        <kbd>/</kbd> finds, <kbd>↑</kbd> <kbd>↓</kbd> <kbd>PgDn</kbd> <kbd>End</kbd> move, <kbd>Enter</kbd> opens, <kbd>c</kbd> compares
        with the fittest. Words, or conditions such as <code>fitness&gt;0.9</code>, <code>g=3</code>, <code>outcome:crashed</code>,{" "}
        <code>tag:good</code>
        {names.hyperparameters[0] && <>, <code>{names.hyperparameters[0]}=…</code></>}.
      </p>
    </Panel>
  );
}
