import { Annotated, Annotations } from "./annotations";
import { CurvesChart } from "./curves_chart";
import { Earned } from "./earned";
import { Models } from "./models";
import { used_model } from "./examined";
import { Details } from "./examined_charts";
import { FitnessChart } from "./fitness_chart";
import { clock, count, counted, duration, metric } from "./format";
import { FrontChart } from "./front_chart";
import { HealthPanel } from "./health";
import type { Row } from "./model";
import { is_evaluated, type Moment } from "./moment";
import { CandidateLink, Empty, Outcome, Panel } from "./parts";
import type { Place } from "./place";
import type { Run } from "./run";
import type { Session } from "./session";

const latest_shown = 9;

function latest_of(moment: Moment): Row[] {
  const found: Row[] = [];
  for (let i = moment.rows.length - 1; i >= 0 && found.length < 512; --i)
    if (is_evaluated(moment.rows[i]!, moment.cut)) found.push(moment.rows[i]!);
  return found.sort((a, b) => b.evaluated_sequence! - a.evaluated_sequence!).slice(0, latest_shown);
}

function Lines({ rows, cut, place, caption, when }: { rows: Row[]; cut: number; place: Place; caption: string; when: boolean }) {
  return (
    <table class="lines">
      <caption class="sr">{caption}</caption>
      <thead>
        <tr><th scope="col">id</th><th scope="col" class="n">fitness</th><th scope="col">{when ? "outcome" : "how it came"}</th>
          <th scope="col" class="n">{when ? "time" : "parameters"}</th></tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={r.id}>
            <td><CandidateLink id={r.id} place={place} /></td>
            <td class="n">{metric(r.fitness)}</td>
            <td class="long">{when ? <><Outcome row={r} cut={cut} />{r.reason && <span class="muted" title={r.reason}> {r.reason}</span>}</> : <span title={r.origin}>{r.origin}</span>}</td>
            <td class="n">{when ? clock(r.evaluated) : count(r.parameters)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Overview({ run, moment, place, session }: { run: Run; moment: Moment; place: Place; session: Session | null }) {
  const picture = run.picture!;
  const outcomes = [...moment.outcomes].sort((a, b) => b[1] - a[1]);
  const latest = latest_of(moment);
  const used = used_model(picture.finished?.examinations ?? []);
  return (
    <div class="grid">
      <FitnessChart picture={picture} moment={moment} place={place} />
      <HealthPanel run={run} moment={moment} place={place} />
      <FrontChart picture={picture} moment={moment} place={place} />
      <CurvesChart run={run} moment={moment} place={place} />
      <Panel title="Latest evaluations" note={duration(moment.seconds) + " of training"}>
        {latest.length ? <Lines rows={latest} cut={moment.cut} place={place} caption="Latest evaluations" when /> : <Empty>Nothing is evaluated yet.</Empty>}
      </Panel>
      <Panel title="The fittest" note={moment.generation === null ? "so far" : `up to generation ${moment.generation}`}>
        {moment.best.length ? <Lines rows={moment.best} cut={moment.cut} place={place} caption="The fittest" when={false} /> : <Empty>None has succeeded yet.</Empty>}
      </Panel>
      <Panel title="Outcomes" note={counted(moment.evaluated, "evaluation")}>
        <ul class="bars">
          {outcomes.map(([kind, n]) => (
            <li key={kind}>
              <span class={`mark ${kind === "succeeded" ? "good" : "bad"}`}>{kind.replaceAll("_", " ")}</span>
              <progress class={kind === "succeeded" ? "good" : "bad"} max={moment.evaluated} value={n} aria-label={kind} />
              <span class="n">{count(n)}</span>
            </li>
          ))}
        </ul>
        {!outcomes.length && <Empty>Nothing is evaluated yet.</Empty>}
      </Panel>
      <Annotations run={run} id={0} place={place} session={session} />
      <Annotated run={run} place={place} />
      {moment.generation === null && <Earned run={run} picture={picture} place={place} />}
      {moment.generation === null && picture.composed && <Models composed={picture.composed} objective={picture.metric} place={place} />}
      {moment.generation === null && used?.details && <Details details={used.details} of={used.subject} />}
    </div>
  );
}
