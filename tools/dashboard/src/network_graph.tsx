import { useMemo } from "preact/hooks";
import { counted, gene_name, setting } from "./format";
import { type Box, layered, path_of, text_width } from "./layered";
import type { Costs, Genome, NodeGene } from "./model";

const line_height = 16;
const padding = 10;

interface Drawn {
  gene: NodeGene;
  title: string;
  lines: string[];
  box: Box;
}

/** Nodes on a path from input to output over what is enabled: the network that is trained. */
function used(g: Genome): Set<string> {
  const edges = g.edges.filter((e) => e.enabled);
  const reach = (from: string, step: (e: (typeof edges)[number]) => [string, string]): Set<string> => {
    const seen = new Set([from]);
    const next = [from];
    for (let at = next.pop(); at !== undefined; at = next.pop())
      for (const e of edges) {
        const [a, b] = step(e);
        if (a === at && !seen.has(b)) {
          seen.add(b);
          next.push(b);
        }
      }
    return seen;
  };
  const forward = reach("0", (e) => [e.from, e.to]);
  const back = reach("1", (e) => [e.to, e.from]);
  return new Set([...forward].filter((id) => back.has(id)));
}

function drawn_of(g: Genome, costs: Costs | null): Drawn[] {
  const there = used(g);
  return g.nodes.filter((n) => there.has(n.id)).map((gene) => {
    const title = gene.op === gene_name(gene.id) ? gene.op : `${gene.op}`;
    const settings = Object.entries(gene.settings).map(([name, v]) => `${name} ${setting(v)}`);
    const lines: string[] = [];
    for (let i = 0; i < settings.length; i += 2) lines.push(settings.slice(i, i + 2).join(", "));
    const cost = costs?.[gene.id];
    if (cost) lines.push(`${cost.shape.join(" × ")}${cost.parameters ? `, ${counted(cost.parameters, "parameter")}` : ""}`);
    const width = Math.max(text_width(title, true) + 64, ...lines.map((l) => text_width(l))) + 2 * padding;
    const parents = g.edges.filter((e) => e.enabled && !e.recurrent && e.to === gene.id && there.has(e.from)).map((e) => e.from);
    const height = (lines.length + 1) * line_height + padding;
    return { gene, title, lines, box: { id: gene.id, width, height, parents } };
  });
}

/** `marks`: a class for the nodes of some genes, to tell two networks apart. `costs`: what each node is shaped like, as far
    as that is known. */
export function NetworkGraph({ genome, label, marks, costs = null }: { genome: Genome; label: string; marks?: Map<string, string>; costs?: Costs | null }) {
  const { drawn, placed } = useMemo(() => {
    const all = drawn_of(genome, costs);
    return { drawn: all, placed: layered(all.map((d) => d.box)) };
  }, [genome, costs]);
  const shown = new Set(drawn.map((d) => d.gene.id));
  const hidden = genome.nodes.length - drawn.length;
  const disabled = genome.edges.filter((e) => !e.enabled).length;
  const recurrent = genome.edges.filter((e) => e.enabled && e.recurrent && shown.has(e.from) && shown.has(e.to));
  const margin = recurrent.length ? 28 : 2;
  return (
    <figure class="graph">
      <div class="scroll" tabIndex={0} role="group" aria-label={`${label}, to be scrolled`}>
        <svg width={placed.width + 2 * margin} height={placed.height + 4} viewBox={`${-margin} -2 ${placed.width + 2 * margin} ${placed.height + 4}`}
          role="img" aria-label={label}>
          {placed.links.map((l) => <path key={`${l.from}-${l.to}`} class="edge" d={path_of(l.points)} />)}
          {recurrent.map((e) => <Recurrent key={e.id} from={placed.boxes.get(e.from)!} to={placed.boxes.get(e.to)!} width={placed.width} />)}
          {drawn.map((d) => <Node key={d.gene.id} drawn={d} at={placed.boxes.get(d.gene.id)!} mark={marks?.get(d.gene.id) ?? ""} />)}
        </svg>
      </div>
      {hidden + disabled > 0 && (
        <figcaption>
          Not drawn: {hidden > 0 && `${hidden} unused node${hidden > 1 ? "s" : ""}`}{hidden > 0 && disabled > 0 && ", "}
          {disabled > 0 && `${disabled} disabled edge${disabled > 1 ? "s" : ""}`}.
        </figcaption>
      )}
    </figure>
  );
}

function Node({ drawn, at, mark }: { drawn: Drawn; at: { x: number; y: number }; mark: string }) {
  const { width, height } = drawn.box;
  const end = drawn.gene.op === "input" || drawn.gene.op === "output";
  return (
    <g class={`node ${end ? "end" : ""} ${mark}`} transform={`translate(${at.x - width / 2},${at.y - height / 2})`}>
      <rect width={width} height={height} rx={3} />
      <text x={padding} y={line_height + 1} class="op">{drawn.title}</text>
      {!end && <text x={width - padding} y={line_height + 1} class="gene">{gene_name(drawn.gene.id)}</text>}
      {drawn.lines.map((line, i) => <text key={i} x={padding} y={(i + 2) * line_height}>{line}</text>)}
    </g>
  );
}

/** An edge that carries the value of the step before goes around on the right. */
function Recurrent({ from, to, width }: { from: { x: number; y: number }; to: { x: number; y: number }; width: number }) {
  const side = width + 20;
  return <path class="edge recurrent" d={`M${from.x},${from.y}C${side},${from.y} ${side},${to.y} ${to.x},${to.y}`} />;
}
