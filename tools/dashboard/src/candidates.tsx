import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clock, count, duration, metric } from "./format";
import type { Row } from "./model";
import { is_evaluated, type Moment } from "./moment";
import { CandidateLink, Outcome, Panel } from "./parts";
import { go, type Place } from "./place";
import { parse_query, value_of } from "./query";
import type { Run } from "./run";
import { type Column, VirtualTable } from "./virtual_table";

/** Names that a query may use beside the columns. */
export function use_names(run: Run): { hyperparameters: string[]; metrics: string[] } {
  // A sample is enough: all candidates of a run come from one search space.
  return useMemo(() => {
    const step = Math.max(1, Math.floor(run.rows.length / 500));
    const some = run.rows.filter((_, i) => i % step === 0);
    const names = (of: (r: Row) => object) => [...new Set(some.flatMap((r) => Object.keys(of(r))))].sort();
    return { hyperparameters: names((r) => r.hyperparameters), metrics: names((r) => r.metrics) };
  }, [Math.floor(Math.log2(run.rows.length + 1)), run.complete, run.picture?.evaluated === 0]);
}

/** Those of the moment that the query finds. */
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

/** What is known comes before what is not, whichever way. */
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

/** Without a look at what kind each is, which takes most of the time. */
function sorted_by_numbers(rows: Row[], keys: (number | null)[], sign: number): Row[] {
  const values = Float64Array.from(keys, (k) => (k === null ? Infinity : sign * k));
  const order = Uint32Array.from(rows, (_, i) => i);
  order.sort((a, b) => (values[a]! < values[b]! ? -1 : values[a]! > values[b]! ? 1 : a - b));
  return Array.from(order, (i) => rows[i]!);
}

function columns_of(moment: Moment, place: Place, objective: string): Column<Row>[] {
  const known = (r: Row) => is_evaluated(r, moment.cut);
  return [
    { name: "id", title: "id", numeric: true, cell: (r) => <CandidateLink id={r.id} place={place} /> },
    { name: "generation", title: "gen", numeric: true, cell: (r) => r.generation },
    { name: "fitness", title: objective, numeric: true, cell: (r) => (known(r) ? metric(r.fitness) : "–") },
    { name: "outcome", title: "outcome", cell: (r) => <Outcome row={r} cut={moment.cut} /> },
    { name: "parameters", title: "parameters", numeric: true, cell: (r) => (known(r) ? count(r.parameters) : "–") },
    { name: "nodes", title: "nodes", numeric: true, cell: (r) => r.nodes },
    { name: "seconds", title: "trained", numeric: true, cell: (r) => (known(r) ? duration(r.seconds) : "–") },
    { name: "time", title: "at", numeric: true, cell: (r) => (known(r) ? clock(r.evaluated) : "–") },
    { name: "slot", title: "slot", cell: (r) => (known(r) ? r.slot : "") },
    { name: "origin", title: "how it came to be", cell: (r) => <span title={r.reason ?? r.origin}>{r.origin}</span> },
  ];
}

/** The search field; what is typed is in the address, and parallel coordinates have the same. */
export function QueryField({ place, problem, names }: { place: Place; problem: string | null; names: string[] }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, set_text] = useState(place.query);
  useEffect(() => {
    if (document.activeElement !== field.current) set_text(place.query);
  }, [place.query]);
  useEffect(() => {
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
        placeholder="conv fitness>0.9 outcome:crashed optimiser=adam" aria-invalid={problem !== null} aria-describedby="query-says"
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
  const columns = useMemo(
    () => columns_of(moment, place, run.picture!.metric.replace(/^validation\./, "")),
    [moment.cut, place, run.picture!.metric],
  );
  const note = `${count(rows.length)} of ${count(moment.rows.length)}${moment.complete ? "" : ", loading"}`;
  return (
    <Panel title="Candidates" class="fill" wide
      note={<span role="status" data-test="found">{note}</span>}>
      <QueryField place={place} problem={problem} names={[...names.hyperparameters, ...names.metrics]} />
      <VirtualTable label="Candidates" columns={columns} rows={rows} id_of={(r) => r.id} sort={place.sort}
        sort_by={(sort) => go(place, { sort }, true)}
        open={(r) => go(place, { view: "candidate", ids: [r.id] })}
        on_key={(key, r) => key === "c" && go(place, { view: "compare", ids: [moment.best[0]?.id ?? r.id, r.id] })} />
      <p class="hint">
        <kbd>/</kbd> finds, <kbd>↑</kbd> <kbd>↓</kbd> <kbd>PgDn</kbd> <kbd>End</kbd> move, <kbd>Enter</kbd> opens, <kbd>c</kbd> compares
        with the fittest. Words, or conditions such as <code>fitness&gt;0.9</code>, <code>g=3</code>, <code>outcome:crashed</code>
        {names.hyperparameters[0] && <>, <code>{names.hyperparameters[0]}=…</code></>}.
      </p>
    </Panel>
  );
}
