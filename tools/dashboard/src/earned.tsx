import { useEffect, useState } from "preact/hooks";
import { Chart } from "./chart_tools";
import { ask } from "./connection";
import type { Table } from "./csv";
import { compared_of, metrics_shown, used_model } from "./examined";
import { count, metric } from "./format";
import type { Picture } from "./model";
import { CandidateLink, Panel } from "./parts";
import type { Place } from "./place";
import type { Run } from "./run";

// The answer to "was it worth it?": the champion beside the best random candidate and a model without hidden layers.

/** Fetches what to know before using the champion; none where the run's folder is not at hand. */
function use_verdict(ended: boolean): string[] {
  const [said, set] = useState<string[]>([]);
  useEffect(() => {
    if (!ended) return;
    let wanted = true;
    ask<string[]>("/api/verdict").then((v) => wanted && set(v), () => undefined);
    return () => {
      wanted = false;
    };
  }, [ended]);
  return said;
}

export function Earned({ run, picture, place }: { run: Run; picture: Picture; place: Place }) {
  const end = picture.finished;
  const verdict = use_verdict(end !== null);
  if (!end) return null;
  const compared = compared_of(end.examinations, (id) => run.row(id)?.metrics);
  const used = used_model(end.examinations);
  const names = metrics_shown(compared, picture.metric);
  const table = (): Table => ({
    columns: ["subject", "id", ...names, "parameters"],
    rows: compared.map((c) => [c.examination.subject, c.examination.id, ...names.map((n) => c.metrics[n] ?? null), c.examination.parameters]),
  });
  return (
    <Panel title="Was it worth it?" note={end.champion !== null ? <>champion <CandidateLink id={end.champion} place={place} /></> : "no candidate succeeded"} wide>
      <Chart name="Was it worth it?" table={table} only={["CSV"]}>
        <div class="scroll" tabIndex={0} role="group" aria-label="Champion and comparisons">
          <table class="lines" data-test="earned">
            <thead>
              <tr><th scope="col">subject</th>{names.map((n) => <th key={n} scope="col" class="n">{n}</th>)}<th scope="col" class="n">parameters</th></tr>
            </thead>
            <tbody>
              {compared.map(({ examination: x, metrics }) => (
                <tr key={x.subject} class={x === used ? "champion" : ""}>
                  <th scope="row">{x.subject} {x.id !== null && <CandidateLink id={x.id} place={place} />}</th>
                  {names.map((n) => <td key={n} class="n">{metric(metrics[n])}</td>)}
                  <td class="n">{count(x.parameters)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Chart>
      <div data-test="verdict">{verdict.map((sentence) => <p key={sentence} class="warning">{sentence}</p>)}</div>
    </Panel>
  );
}
