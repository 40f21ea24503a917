/** Rows with a cell for each column; null where there is no value. */
export interface Table {
  columns: string[];
  rows: (string | number | null)[][];
}

/** RFC 4180; numbers by the shortest text that gives them back. */
export function csv_text(table: Table): string {
  const cell = (v: string | number | null) => {
    const text = v === null ? "" : String(v);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [table.columns, ...table.rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}
