import { Annotations } from "./annotations";
import { clock, count, counted, duration } from "./format";
import { HealthPanel } from "./health";
import type { Row } from "./model";
import { is_evaluated, type Moment } from "./moment";
import { name_of } from "./named";
import { Empty, Panel } from "./parts";
import type { Place } from "./place";
import type { Run } from "./run";
import type { Session } from "./session";

interface Standing {
  says: string;
  kind: "good" | "bad" | "open";
  slot: string | null;
  seconds: number | null;
}

/** Returns the standing as the table at the end of clade jobs run says it. */
function standing_of(row: Row, run: Run, moment: Moment): Standing {
  if (is_evaluated(row, moment.cut)) {
    const good = row.outcome === "succeeded";
    const says = row.outcome === "crashed" || row.outcome === "invalid" ? "failed" : row.outcome!.replaceAll("_", " ");
    return { says, kind: good ? "good" : "bad", slot: row.slot, seconds: row.seconds };
  }
  const now = run.slots.find((s) => s.training === row.id);
  return now ? { says: "running", kind: "good", slot: now.slot, seconds: now.seconds } : { says: "waiting", kind: "open", slot: null, seconds: null };
}

function JobTable({ run, moment }: { run: Run; moment: Moment }) {
  const name = (row: Row) => name_of(row, run.picture!);
  const rows = moment.rows.toSorted((a, b) => (name(a) < name(b) ? -1 : 1));
  return (
    <Panel title="Jobs" note={counted(rows.length, "job")} wide>
      {!rows.length && <Empty>None has begun yet.</Empty>}
      <div class="scroll" tabIndex={0} role="group" aria-label="All jobs">
        <table class="lines" data-test="jobs">
          <thead>
            <tr><th scope="col">job</th><th scope="col">outcome</th><th scope="col" class="n">time</th><th scope="col">slot</th><th scope="col" class="n">ended</th><th scope="col">why</th></tr>
          </thead>
          <tbody>
            {rows.map((r) => {
              const { says, kind, slot, seconds } = standing_of(r, run, moment);
              return (
                <tr key={r.id}>
                  <th scope="row">{name(r)}</th><td><span class={`mark ${kind}`}>{says}</span></td>
                  <td class="n">{duration(seconds)}</td><td>{slot ?? ""}</td>
                  <td class="n">{is_evaluated(r, moment.cut) ? clock(r.evaluated) : ""}</td>
                  <td class="long" title={r.reason ?? ""}>{r.reason?.replace(`${name(r)}: `, "") ?? ""}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

export function figures_of_jobs(run: Run, moment: Moment): [string, preact.ComponentChildren][] {
  const p = run.picture!;
  const whole = moment.complete;
  return [
    ["ended", <>{count(whole ? moment.evaluated : p.evaluated)}<small> of {count(p.population)}</small></>],
    ["failed", count(whole ? moment.failed : p.failed)],
    ["running", count(run.slots.filter((s) => s.training !== null).length)],
    ["elapsed", duration(p.started ? (moment.time - p.started) / 1000 : null)],
  ];
}

export function Jobs({ run, moment, place, session }: { run: Run; moment: Moment; place: Place; session: Session | null }) {
  return (
    <div class="grid">
      <JobTable run={run} moment={moment} />
      <HealthPanel run={run} moment={moment} place={place} />
      <Annotations run={run} id={0} place={place} session={session} />
    </div>
  );
}
