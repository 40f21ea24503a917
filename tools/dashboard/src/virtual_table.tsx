import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column<T> {
  name: string;
  title: string;
  numeric?: boolean;
  /** In pixels. */
  width: number;
  cell: (row: T) => ComponentChildren;
}

interface VirtualTableParams<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  id_of: (row: T) => number;
  /** "-id": by id, falling. */
  sort: string;
  sort_by: (sort: string) => void;
  open: (row: T) => void;
  /** Other keys than those that move, with the row that is active. */
  on_key?: (key: string, row: T) => void;
}

const row_height = 28;
/** Above and below what is seen, so that a step does not show an empty line. */
const spare = 6;

/** A table of any length, of which only the lines that are seen exist. Moves by keyboard as a grid (WAI-ARIA). */
export function VirtualTable<T>({ label, columns, rows, id_of, sort, sort_by, open, on_key }: VirtualTableParams<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, set_view] = useState({ top: 0, height: 600 });
  const [active, set_active] = useState(0);
  const at = Math.min(active, Math.max(0, rows.length - 1));

  useEffect(() => {
    const here = box.current!;
    const seen = () => set_view({ top: here.scrollTop, height: here.clientHeight });
    here.addEventListener("scroll", seen, { passive: true });
    const resized = new ResizeObserver(seen);
    resized.observe(here);
    return () => {
      here.removeEventListener("scroll", seen);
      resized.disconnect();
    };
  }, []);

  const head = row_height;
  useLayoutEffect(() => {
    const here = box.current!;
    const top = at * row_height;
    if (document.activeElement !== here) return;
    if (top < here.scrollTop) here.scrollTop = top;
    else if (top + 2 * row_height > here.scrollTop + here.clientHeight) here.scrollTop = top + 2 * row_height - here.clientHeight;
  }, [at]);

  function pressed(e: KeyboardEvent): void {
    if (e.target !== box.current || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor((view.height - head) / row_height) - 1);
    const steps: Record<string, number> = {
      ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1,
    };
    const row = rows[at];
    const to = steps[e.key];
    if (to !== undefined) set_active(Math.max(0, Math.min(rows.length - 1, to)));
    else if (e.key === "Enter" && row !== undefined) open(row);
    else {
      if (row !== undefined) on_key?.(e.key, row);
      return;
    }
    e.preventDefault();
  }

  const first = Math.max(0, Math.floor(view.top / row_height) - spare);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / row_height) + spare);
  const seen = rows.slice(first, last);
  return (
    <div class="table" style={{ "--columns": template_of(columns), "--width": `${columns.reduce((sum, c) => sum + c.width, 0)}px` }} role="grid" aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={columns.length} tabIndex={0}
      aria-activedescendant={rows.length ? `row-${id_of(rows[at]!)}` : undefined} ref={box} onKeyDown={pressed} data-test="table">
      <div class="row head" role="row" aria-rowindex={1}>
        {columns.map((c) => <Head key={c.name} column={c} sort={sort} sort_by={sort_by} />)}
      </div>
      <div class="body" role="rowgroup" style={{ height: `${rows.length * row_height}px` }}>
        {seen.map((row, i) => (
          <div key={id_of(row)} id={`row-${id_of(row)}`} role="row" aria-rowindex={first + i + 2} aria-selected={first + i === at}
            class={`row ${first + i === at ? "active" : ""}`} style={{ transform: `translateY(${(first + i) * row_height}px)` }}
            onClick={() => set_active(first + i)} onDblClick={() => open(row)}>
            {columns.map((c) => <span key={c.name} role="gridcell" class={`c-${c.name} ${c.numeric ? "n" : ""}`}>{c.cell(row)}</span>)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The last column takes what is left. */
function template_of<T>(columns: Column<T>[]): string {
  return columns.map((c, i) => (i + 1 < columns.length ? `${c.width}px` : `minmax(${c.width}px, 1fr)`)).join(" ");
}

function Head<T>({ column, sort, sort_by }: { column: Column<T>; sort: string; sort_by: (sort: string) => void }) {
  const falling = sort === `-${column.name}`;
  const rising = sort === column.name;
  const arrow = <span class="arrow" aria-hidden="true">{falling ? "▾" : rising ? "▴" : ""}</span>;
  return (
    <span role="columnheader" aria-sort={falling ? "descending" : rising ? "ascending" : "none"} class={`c-${column.name} ${column.numeric ? "n" : ""}`}>
      <button type="button" onClick={() => sort_by(falling ? column.name : `-${column.name}`)}>
        {column.numeric && arrow}
        {column.title}
        {!column.numeric && arrow}
      </button>
    </span>
  );
}
