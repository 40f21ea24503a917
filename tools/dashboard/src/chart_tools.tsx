import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { csv_text, type Table } from "./csv";
import { count } from "./format";
import { save, save_canvas } from "./save";

interface ChartParams {
  /** The name of the chart; also the name of its saved files. */
  name: string;
  /** The numbers of the chart. */
  table: () => Table;
  children: ComponentChildren;
  /** The tools that may be used; all if it is left out. */
  only?: Tool[];
}

type Tool = "Table" | "CSV" | "PNG";

/** So many rows are shown; all are saved. */
const most_rows = 500;

/** A chart, with what it shows as a table and as files. */
export function Chart({ name, table, children, only = ["Table", "CSV", "PNG"] }: ChartParams) {
  const place = useRef<HTMLDivElement>(null);
  const [open, set_open] = useState(false);
  const file = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  return (
    <div class="chart" ref={place}>
      {children}
      <div class="tools">
        {only.includes("Table") && (
          <button type="button" class="quiet" aria-expanded={open} aria-label={`Table: ${name}`} onClick={() => set_open(!open)}>Table</button>
        )}
        {only.includes("CSV") && (
          <button type="button" class="quiet" aria-label={`CSV: ${name}`} onClick={() => save(`${file}.csv`, "text/csv", csv_text(table()))}>CSV</button>
        )}
        {only.includes("PNG") && (
          <button type="button" class="quiet" aria-label={`PNG: ${name}`} onClick={() => save_canvas(`${file}.png`, name, place.current!)}>PNG</button>
        )}
      </div>
      {open && <DataTable name={name} table={table()} />}
    </div>
  );
}

export function DataTable({ name, table }: { name: string; table: Table }) {
  const numeric = table.columns.map((_, i) => table.rows.every((r) => r[i] === null || typeof r[i] === "number"));
  return (
    <div class="scroll data" tabIndex={0} role="group" aria-label={`${name}, as a table`}>
      <table class="lines">
        <caption class="sr">{name}</caption>
        <thead><tr>{table.columns.map((c, i) => <th key={c} scope="col" class={numeric[i] ? "n" : ""}>{c}</th>)}</tr></thead>
        <tbody>
          {table.rows.slice(0, most_rows).map((row, i) => (
            <tr key={i}>{row.map((cell, j) => <td key={j} class={numeric[j] ? "n" : ""}>{cell === null ? "–" : String(cell)}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {table.rows.length > most_rows && <p class="hint">The first {count(most_rows)} of {count(table.rows.length)} rows; the CSV has all.</p>}
    </div>
  );
}
