import { useState } from "preact/hooks";
import { curve_of, use_candidate } from "./candidate";
import { Curves, metric_names, MetricChoice } from "./curves_chart";
import { count, duration, metric, setting } from "./format";
import type { Candidate, Genome } from "./model";
import type { Moment } from "./moment";
import { NetworkGraph } from "./network_graph";
import { CandidateLink, Empty, Panel } from "./parts";
import { go, type Place } from "./place";
import type { Run } from "./run";

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

function Choice({ label, id, choose }: { label: string; id: number | undefined; choose: (id: number) => void }) {
  return (
    <label class="choice">
      {label}
      <input type="number" min={1} value={id ?? ""} onChange={(e) => e.currentTarget.valueAsNumber > 0 && choose(e.currentTarget.valueAsNumber)} />
    </label>
  );
}

export function Compare({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const first = place.ids[0] ?? moment.best[0]?.id;
  const second = place.ids[1] ?? moment.best[1]?.id;
  const a = use_candidate(run, first);
  const b = use_candidate(run, second);
  const problem = a.problem ?? b.problem;
  return (
    <>
      <form class="choices" aria-label="Which two" onSubmit={(e) => e.preventDefault()}>
        <Choice label="Left" id={first} choose={(id) => go(place, { ids: [id, second ?? id] })} />
        <Choice label="Right" id={second} choose={(id) => go(place, { ids: [first ?? id, id] })} />
        <button type="button" onClick={() => first !== undefined && second !== undefined && go(place, { ids: [second, first] })}>Swap</button>
      </form>
      {problem ? <Empty>{problem}.</Empty> : a.candidate && b.candidate ? (
        <Both run={run} place={place} a={a.candidate} b={b.candidate} />
      ) : <Empty>{moment.best.length < 2 && place.ids.length < 2 ? "Two candidates are to be chosen." : "They are being fetched."}</Empty>}
    </>
  );
}

function Both({ run, place, a, b }: { run: Run; place: Place; a: Candidate; b: Candidate }) {
  const curves = [curve_of(run, a), curve_of(run, b)].filter((c, i, all) => c.epochs.length && all.findIndex((o) => o.id === c.id) === i);
  const names = metric_names(curves);
  const [chosen, choose] = useState(run.picture!.metric);
  const shown = names.includes(chosen) ? chosen : (names[0] ?? chosen);
  return (
    <div class="grid">
      <Panel title="Side by side" class="half" note="differences are marked"><Sides run={run} place={place} a={a} b={b} /></Panel>
      <Panel title="Learning curves" class="half" note={names.length > 1 ? <MetricChoice names={names} chosen={shown} choose={choose} /> : shown}>
        {curves.length ? <Curves curves={curves} metric_name={shown} place={place} /> : <Empty>No epoch has ended.</Empty>}
      </Panel>
      {[[a, b] as const, [b, a] as const].map(([own, other], i) => (
        <Panel key={i} title={`Network of #${own.id}`} class="half"
          note={<ul class="legend"><li><i class="key box both" />in both</li><li><i class="key box changed" />set differently</li><li><i class="key box only" />only here</li></ul>}>
          <NetworkGraph genome={own.genome} label={`The network of #${own.id}`} marks={marks_of(own.genome, other.genome)} />
        </Panel>
      ))}
    </div>
  );
}

function Sides({ run, place, a, b }: { run: Run; place: Place; a: Candidate; b: Candidate }) {
  const sides = [a, b];
  const keys = (of: (c: Candidate) => object) => [...new Set(sides.flatMap((c) => Object.keys(of(c))))].sort();
  const lines: [string, string, string][] = [
    ["fitness", ...pair(sides, (c) => metric(run.row(c.id)?.fitness))],
    ["outcome", ...pair(sides, (c) => c.evaluation?.outcome ?? "open")],
    ["generation", ...pair(sides, (c) => String(c.generation))],
    ["parameters", ...pair(sides, (c) => count(c.evaluation?.parameters))],
    ["nodes", ...pair(sides, (c) => String(c.genome.nodes.length - 2))],
    ["trained", ...pair(sides, (c) => duration(c.evaluation?.seconds))],
    ["how it came to be", ...pair(sides, (c) => c.origin)],
    ...keys((c) => c.genome.hyperparameters).map((name): [string, string, string] => [name, ...pair(sides, (c) => setting(c.genome.hyperparameters[name]))]),
    ...keys((c) => c.evaluation?.metrics ?? {}).map((name): [string, string, string] => [name, ...pair(sides, (c) => metric(c.evaluation?.metrics[name]))]),
  ];
  return (
    <div class="scroll">
      <table class="lines sides">
        <thead><tr><td /><th scope="col" class="n"><CandidateLink id={a.id} place={place} /></th><th scope="col" class="n"><CandidateLink id={b.id} place={place} /></th></tr></thead>
        <tbody>
          {lines.map(([name, left, right]) => (
            <tr key={name} class={left === right ? "" : "differs"}><th scope="row">{name}</th><td class="n wrap">{left}</td><td class="n wrap">{right}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function pair(sides: Candidate[], of: (c: Candidate) => string): [string, string] {
  return [of(sides[0]!), of(sides[1]!)];
}
