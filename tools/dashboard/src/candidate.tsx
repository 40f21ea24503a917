import { useEffect, useState } from "preact/hooks";
import { Annotations } from "./annotations";
import { fetch_candidate, fetch_costs, fetch_file } from "./connection";
import { type Curve, finished_curve, metric_names } from "./curve";
import { Curves, MetricChoice } from "./curves_chart";
import { count, counted, date_time, duration, metric, setting } from "./format";
import { Lineage, LineTable } from "./lineage";
import type { Candidate, Costs } from "./model";
import { type Moment } from "./moment";
import { NetworkGraph } from "./network_graph";
import { CandidateLink, Empty, Facts, Outcome, Panel } from "./parts";
import { address_of, go, type Place } from "./place";
import type { Run } from "./run";
import { save } from "./save";
import type { Session } from "./session";

/** A candidate with all that is known of it; again once it is evaluated. */
export function use_candidate(run: Run, id: number | undefined): { candidate: Candidate | null; problem: string | null } {
  const [found, set] = useState<{ id: number; candidate: Candidate | null; problem: string | null } | null>(null);
  const evaluated = id !== undefined && run.row(id)?.evaluated != null;
  useEffect(() => {
    if (id === undefined) return;
    let wanted = true;
    fetch_candidate(id).then(
      (candidate) => wanted && set({ id, candidate, problem: null }),
      (e: Error) => wanted && set({ id, candidate: null, problem: e.message }),
    );
    return () => {
      wanted = false;
    };
  }, [id, evaluated]);
  return found && found.id === id ? found : { candidate: null, problem: null };
}

/** Returns the epochs so far where the candidate is in training. */
export function curve_of(run: Run, c: Candidate): Curve {
  const training = run.training.get(c.id);
  if (!c.evaluation && training) return { id: c.id, epochs: training.map((e) => ({ number: e.epoch, metrics: e.metrics })), of: training.at(-1)?.epochs };
  return finished_curve(c);
}

export function CandidateView({ run, moment, place, session }: { run: Run; moment: Moment; place: Place; session: Session | null }) {
  const id = place.ids[0];
  const { candidate, problem } = use_candidate(run, id);
  if (id === undefined) return <Empty>The address names no candidate.</Empty>;
  if (problem) return <Empty>#{id}: {problem}.</Empty>;
  if (!candidate) return <p class="empty" role="status">#{id} is being fetched.</p>;
  return <Shown run={run} moment={moment} place={place} session={session} c={candidate} />;
}

/** Null until they are there, or where the data are not at hand. */
function use_costs(id: number): Costs | null {
  const [costs, set] = useState<Costs | null>(null);
  useEffect(() => {
    let wanted = true;
    fetch_costs(id).then((c) => wanted && set(c), () => undefined);
    return () => {
      wanted = false;
    };
  }, [id]);
  return costs;
}

/** The trained network as a file, made by `clade export`. */
function Models({ id }: { id: number }) {
  const [said, say] = useState("");
  const fetch_model = (format: string) => {
    say("It is being made.");
    fetch_file(`/api/model/${id}?format=${format}`).then(
      ({ name, content }) => {
        save(name, "application/octet-stream", content);
        say(`${name}, ${count(content.byteLength)} bytes`);
      },
      (e: Error) => say(e.message),
    );
  };
  return (
    <div class="tools models">
      <span role="status" class="muted">{said}</span>
      {[["onnx", "ONNX"], ["torchscript", "TorchScript"], ["safetensors", "safetensors"]].map(([format, title]) => (
        <button key={format} type="button" class="quiet" aria-label={`${title} file of #${id}`} onClick={() => fetch_model(format!)}>{title}</button>
      ))}
    </div>
  );
}

function Shown({ run, moment, place, session, c }: { run: Run; moment: Moment; place: Place; session: Session | null; c: Candidate }) {
  const row = run.row(c.id);
  const e = c.evaluation;
  const curve = curve_of(run, c);
  const names = metric_names([curve]);
  const [chosen, choose] = useState(run.picture!.metric);
  const shown = names.includes(chosen) ? chosen : (names[0] ?? chosen);
  const costs = use_costs(c.id);
  const rival = moment.best.find((r) => r.id !== c.id);
  const children = run.rows.filter((r) => r.parents.includes(c.id));
  return (
    <article class="candidate" aria-labelledby="candidate-title">
      <header class="title">
        <h2 id="candidate-title">Candidate #{c.id}</h2>
        {row && <Outcome row={row} cut={run.sequence} />}
        <nav aria-label="Neighbours" class="neighbours">
          {run.row(c.id - 1) && <a href={address_of(place, { ids: [c.id - 1] })} rel="prev">← #{c.id - 1}</a>}
          {run.row(c.id + 1) && <a href={address_of(place, { ids: [c.id + 1] })} rel="next">#{c.id + 1} →</a>}
          {rival && <button type="button" onClick={() => go(place, { view: "compare", ids: [rival.id, c.id] })}>Compare with #{rival.id}</button>}
        </nav>
      </header>
      {e?.reason && <p class="reason">{e.reason}</p>}
      <div class="grid">
        <Panel title="What it is">
          <Facts of={[
            ["fitness", metric(row?.fitness)],
            ["generation", `${c.generation}, place ${c.index}`],
            ["parents", c.parents.length ? c.parents.map((p) => <><CandidateLink id={p} place={place} /> </>) : "none"],
            ["children", children.length ? <>{children.slice(0, 8).map((r) => <><CandidateLink id={r.id} place={place} /> </>)}{children.length > 8 && `and ${children.length - 8} more`}</> : "none"],
            ["how it came to be", c.origin],
            ["parameters", count(e?.parameters)],
            ["trained", e ? `${duration(e.seconds)} on ${e.slot ?? "no slot"}, ${e.tries === 1 ? "at once" : `${e.tries} tries`}` : "not yet"],
            ["evaluated", date_time(row?.evaluated)],
            ...(c.equal_to !== null ? [["equal to", <CandidateLink id={c.equal_to} place={place} />] as [string, preact.JSX.Element]] : []),
          ]} />
        </Panel>
        <Panel title="Hyperparameters">
          <Facts of={Object.entries(c.genome.hyperparameters).map(([name, v]) => [name, setting(v)])} />
        </Panel>
        <Panel title="Metrics">
          {e && Object.keys(e.metrics).length ? <Facts of={Object.entries(e.metrics).map(([name, v]) => [name, metric(v)])} /> : <Empty>None yet.</Empty>}
        </Panel>
        <Panel title="Network" class="half" note={`${counted(c.genome.nodes.length - 2, "node")} between input and output`}>
          <NetworkGraph genome={c.genome} label={`The network of #${c.id}`} costs={costs} />
          {c.has_weights && <Models id={c.id} />}
        </Panel>
        <Panel title="Learning curve" class="half" note={names.length > 1 ? <MetricChoice names={names} chosen={shown} choose={choose} /> : shown}>
          {curve.epochs.length ? <Curves curves={[curve]} metric_name={shown} place={place} /> : <Empty>No epoch has ended yet.</Empty>}
        </Panel>
        <Annotations run={run} id={c.id} place={place} session={session} />
        <Panel title="Where it comes from" wide note="the line of the fitter parents is heavier">
          <Lineage run={run} id={c.id} place={place} />
          <LineTable run={run} id={c.id} place={place} maximize={run.picture!.maximize} />
        </Panel>
      </div>
    </article>
  );
}
