import { useMemo } from "preact/hooks";
import { metric } from "./format";
import { type Box, layered, path_of, text_width } from "./layered";
import type { Row } from "./model";
import { CandidateLink } from "./parts";
import { address_of, type Place } from "./place";
import type { Run } from "./run";

const most_drawn = 64;

interface Ancestry {
  /** From itself along the fitter parents to one that has none. */
  line: Row[];
  rows: Map<number, Row>;
  /** How many more there are. */
  more: number;
}

function ancestry_of(run: Run, id: number): Ancestry {
  const line: Row[] = [];
  for (let row = run.row(id); row; row = run.row(row.parents[0] ?? 0)) line.push(row);
  const all = new Set<number>();
  const order: Row[] = [];
  const next = line.slice(0, 1);
  for (let row = next.shift(); row; row = next.shift()) {
    if (all.has(row.id)) continue;
    all.add(row.id);
    order.push(row);
    next.push(...row.parents.flatMap((p) => run.row(p) ?? []));
  }
  const rows = new Map(line.slice(0, most_drawn).map((r) => [r.id, r]));
  for (const row of order) if (rows.size < most_drawn) rows.set(row.id, row);
  return { line, rows, more: all.size - rows.size };
}

/** The origin of a candidate: all parents, the line of the fitter ones drawn heavily. */
export function Lineage({ run, id, place }: { run: Run; id: number; place: Place }) {
  const ancestry = useMemo(() => ancestry_of(run, id), [id, run.rows_version]);
  const placed = useMemo(() => {
    const boxes: Box[] = [...ancestry.rows.values()].map((r) => ({
      id: String(r.id),
      width: text_width(`#${r.id}  ${metric(r.fitness)}`, true) + 22,
      height: 40,
      parents: [...new Set(r.parents)].filter((p) => ancestry.rows.has(p)).map(String),
    }));
    return boxes.length ? { own: boxes, ...layered(boxes) } : null;
  }, [ancestry]);
  if (!placed) return null;
  const fitter = new Set(ancestry.line.map((r, i) => `${ancestry.line[i + 1]?.id}-${r.id}`));
  const on_line = new Set(ancestry.line.map((r) => r.id));
  return (
    <figure class="graph">
      <div class="scroll" tabIndex={0} role="group" aria-label={`Ancestors of #${id}, to be scrolled`}>
        <svg width={placed.width + 4} height={placed.height + 4} viewBox={`-2 -2 ${placed.width + 4} ${placed.height + 4}`} role="group"
          aria-label={`Ancestors of #${id}`}>
          {placed.links.map((l) => (
            <path key={`${l.from}-${l.to}`} class={`edge ${fitter.has(`${l.from}-${l.to}`) ? "fitter" : ""}`} d={path_of(l.points)} />
          ))}
          {placed.own.map((b) => {
            const row = ancestry.rows.get(Number(b.id))!;
            const at = placed.boxes.get(b.id)!;
            return (
              <a key={b.id} href={address_of(place, { view: "candidate", ids: [row.id] })}>
                <g class={`node ${row.id === id ? "self" : ""} ${on_line.has(row.id) ? "fitter" : ""}`} transform={`translate(${at.x - b.width / 2},${at.y - b.height / 2})`}>
                  <rect width={b.width} height={b.height} rx={3} />
                  <text x={b.width / 2} y={17} class="op middle">#{row.id}  {metric(row.fitness)}</text>
                  <text x={b.width / 2} y={32} class="middle">generation {row.generation}</text>
                </g>
              </a>
            );
          })}
        </svg>
      </div>
      {ancestry.more > 0 && <figcaption>{ancestry.more} more distant ancestors are not drawn.</figcaption>}
    </figure>
  );
}

/** The line of the fitter parents in words, with what each change gained. */
export function LineTable({ run, id, place, maximize }: { run: Run; id: number; place: Place; maximize: boolean }) {
  const { line } = useMemo(() => ancestry_of(run, id), [id, run.rows_version]);
  return (
    <div class="scroll">
      <table class="lines">
        <caption class="sr">The line of fitter parents</caption>
        <thead>
          <tr><th scope="col">id</th><th scope="col" class="n">gen</th><th scope="col" class="n">fitness</th><th scope="col" class="n">change</th><th scope="col">how it came to be</th></tr>
        </thead>
        <tbody>
          {line.map((row, i) => {
            const parent = line[i + 1];
            const gain = row.fitness !== null && parent?.fitness != null ? row.fitness - parent.fitness : null;
            const better = gain !== null && (maximize ? gain > 0 : gain < 0);
            return (
              <tr key={row.id}>
                <td><CandidateLink id={row.id} place={place} /></td>
                <td class="n">{row.generation}</td>
                <td class="n">{metric(row.fitness)}</td>
                <td class={`n ${gain ? (better ? "gain" : "loss") : ""}`}>{gain === null ? "–" : `${gain > 0 ? "+" : gain < 0 ? "−" : "±"}${Math.abs(gain).toFixed(4)}`}</td>
                <td class="wrap">{row.origin}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
