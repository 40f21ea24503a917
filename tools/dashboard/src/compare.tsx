import { useEffect, useState } from "preact/hooks";
import { curve_of } from "./candidate";
import { Chart } from "./chart_tools";
import { fetch_candidate } from "./connection";
import { metric_names } from "./curve";
import { Curves, MetricChoice } from "./curves_chart";
import { count, duration, metric, setting } from "./format";
import type { Candidate, Genome } from "./model";
import type { Moment } from "./moment";
import { NetworkGraph } from "./network_graph";
import { CandidateLink, Empty, Panel } from "./parts";
import { go, type Place } from "./place";
import type { Run } from "./run";

// Candidates side by side: all but the first are held against the first.

/** The number of colors for their curves. */
const most = 6;

/** Genes that both have are the same change at the same place; they may still be set differently. */
function marks_of(own: Genome, other: Genome): Map<string, string> {
  const there = new Map(other.nodes.map((n) => [n.id, JSON.stringify([n.op, n.settings])]));
  return new Map(
    own.nodes.map((n) => {
      const found = there.get(n.id);
      return [n.id, found === undefined ? "only" : found === JSON.stringify([n.op, n.settings]) ? "both" : "changed"];
    }),
  );
}

/** Returns the candidates that are there, and why others are not; again when one of them was evaluated. */
function use_candidates(run: Run, ids: number[]): { found: Candidate[]; problem: string | null } {
  const [known, set] = useState(new Map<number, Candidate>());
  const [problem, set_problem] = useState<string | null>(null);
  const key = ids.map((id) => `${id}/${run.row(id)?.evaluated_sequence ?? ""}`).join();
  useEffect(() => {
    let wanted = true;
    set_problem(null);
    for (const id of ids)
      fetch_candidate(id).then(
        (c) => wanted && set((before) => new Map(before).set(id, c)),
        (e: Error) => wanted && set_problem(e.message),
      );
    return () => {
      wanted = false;
    };
  }, [key]);
  return { found: ids.flatMap((id) => known.get(id) ?? []), problem };
}

export function Compare({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const ids = [...new Set(place.ids.length ? place.ids : moment.best.slice(0, 2).map((r) => r.id))].slice(0, most);
  const { found, problem } = use_candidates(run, ids);
  const missing = moment.best.find((r) => !ids.includes(r.id));
  const [text, set_text] = useState("");
  const add = (id: number) => Number.isSafeInteger(id) && id > 0 && go(place, { ids: [...ids.filter((i) => i !== id), id].slice(-most) });
  return (
    <>
      <form class="choices" aria-label="Which are compared" onSubmit={(e) => {
        e.preventDefault();
        add(Number(text.replace("#", "")));
        set_text("");
      }}>
        {ids.map((id, i) => (
          <span key={id} class="chip">
            <i class={`key line series-${i % 6}`} /><CandidateLink id={id} place={place} />
            {i > 0 && <button type="button" class="quiet" title="Hold the others against this one" aria-label={`Put #${id} first`} onClick={() => go(place, { ids: [id, ...ids.filter((o) => o !== id)] })}>⇤</button>}
            {ids.length > 1 && <button type="button" class="quiet" aria-label={`Leave #${id} out`} onClick={() => go(place, { ids: ids.filter((o) => o !== id) })}>×</button>}
          </span>
        ))}
        <label>Add <input type="text" inputMode="numeric" size={6} value={text} placeholder="#12" onInput={(e) => set_text(e.currentTarget.value)} /></label>
        {missing && <button type="button" onClick={() => add(missing.id)}>Add #{missing.id}, of the fittest</button>}
      </form>
      {problem ? <Empty>{problem}.</Empty> : found.length > 1 ? <Several run={run} place={place} all={found} />
        : <Empty>{ids.length < 2 ? "Another candidate is to be chosen." : "They are being fetched."}</Empty>}
    </>
  );
}

function Several({ run, place, all }: { run: Run; place: Place; all: Candidate[] }) {
  const curves = all.map((c) => curve_of(run, c)).filter((c) => c.epochs.length);
  const names = metric_names(curves);
  const [chosen, choose] = useState(run.picture!.metric);
  const shown = names.includes(chosen) ? chosen : (names[0] ?? chosen);
  const size = all.length > 3 ? "wide" : "half";
  return (
    <div class="grid">
      <Panel title="Side by side" class={size} note="differences are marked"><Sides run={run} place={place} all={all} /></Panel>
      <Panel title="Learning curves" class={size} note={names.length > 1 ? <MetricChoice names={names} chosen={shown} choose={choose} /> : shown}>
        {curves.length ? <Curves curves={curves} metric_name={shown} place={place} /> : <Empty>No epoch has ended.</Empty>}
      </Panel>
      {all.map((own, i) => (
        <Panel key={own.id} title={`Network of #${own.id}`} class={all.length > 2 ? "" : "half"}
          note={<ul class="legend"><li><i class="key box both" />in both</li><li><i class="key box changed" />set differently</li><li><i class="key box only" />only here</li></ul>}>
          <NetworkGraph genome={own.genome} label={`The network of #${own.id}`} marks={marks_of(own.genome, all[i ? 0 : 1]!.genome)} />
        </Panel>
      ))}
    </div>
  );
}

interface Line {
  name: string;
  cells: string[];
}

function lines_of(run: Run, all: Candidate[]): Line[] {
  const keys = (of: (c: Candidate) => object) => [...new Set(all.flatMap((c) => Object.keys(of(c))))].sort();
  const line = (name: string, of: (c: Candidate) => string): Line => ({ name, cells: all.map(of) });
  return [
    line("fitness", (c) => metric(run.row(c.id)?.fitness)),
    line("outcome", (c) => c.evaluation?.outcome ?? "open"),
    line("generation", (c) => String(c.generation)),
    line("parameters", (c) => count(c.evaluation?.parameters)),
    line("nodes", (c) => String(c.genome.nodes.length - 2)),
    line("trained", (c) => duration(c.evaluation?.seconds)),
    line("how it came to be", (c) => c.origin),
    ...keys((c) => c.genome.hyperparameters).map((name) => line(name, (c) => setting(c.genome.hyperparameters[name]))),
    ...keys((c) => c.evaluation?.metrics ?? {}).map((name) => line(name, (c) => metric(c.evaluation?.metrics[name]))),
  ];
}

function Sides({ run, place, all }: { run: Run; place: Place; all: Candidate[] }) {
  const lines = lines_of(run, all);
  const table = () => ({ columns: ["", ...all.map((c) => `#${c.id}`)], rows: lines.map((l) => [l.name, ...l.cells]) });
  return (
    <Chart name="Side by side" table={table} only={["CSV"]}>
      <div class="scroll" tabIndex={0} role="group" aria-label="Candidates side by side">
        <table class="lines sides">
          <thead><tr><td />{all.map((c) => <th key={c.id} scope="col" class="n"><CandidateLink id={c.id} place={place} /></th>)}</tr></thead>
          <tbody>
            {lines.map((l) => (
              <tr key={l.name} class={l.cells.every((c) => c === l.cells[0]) ? "" : "differs"}>
                <th scope="row">{l.name}</th>
                {l.cells.map((c, i) => <td key={i} class={`n wrap ${i > 0 && c !== l.cells[0] ? "other" : ""}`}>{c}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Chart>
  );
}
