import { Chart } from "./chart_tools";
import type { Table } from "./csv";
import { count, metric, percent } from "./format";
import type { Composed } from "./model";
import { CandidateLink, Panel } from "./parts";
import type { Place } from "./place";

// All single models that the final one was chosen from, the best first.

export function Models({ composed, objective, place }: { composed: Composed; objective: string; place: Place }) {
  const models = composed.models ?? [];
  if (!models.length) return null;
  const names = [...new Set([objective, ...models.flatMap((m) => Object.keys(m.metrics))])].filter((n) => models.some((m) => n in m.metrics));
  const table = (): Table => ({
    columns: ["model", ...names, "parameters", "share"],
    rows: models.map((m) => [m.subject, ...names.map((n) => m.metrics[n] ?? null), m.parameters, m.share]),
  });
  return (
    <Panel title="Models" note={composed.interim ? "what predictions take so far is made of these" : "what the final model was chosen from"} wide>
      <Chart name="Models" table={table} only={["CSV"]}>
        <div class="scroll" tabIndex={0} role="group" aria-label="Models and their shares">
          <table class="lines" data-test="models">
            <thead>
              <tr><th scope="col">model</th>{names.map((n) => <th key={n} scope="col" class="n">{n}</th>)}<th scope="col" class="n">parameters</th><th scope="col" class="n">share</th></tr>
            </thead>
            <tbody>
              {models.map((m) => (
                <tr key={m.subject} class={m.share > 0 ? "champion" : ""}>
                  <th scope="row">{m.id ? <>{m.subject.replace(/#[0-9]+$/, "")}<CandidateLink id={m.id} place={place} /></> : m.subject}</th>
                  {names.map((n) => <td key={n} class="n">{metric(m.metrics[n])}</td>)}
                  <td class="n">{count(m.parameters)}</td>
                  <td class="n">{m.share > 0 ? percent(m.share) : "-"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Chart>
      {composed.left_out.map((why) => <p key={why}>left out: {why}</p>)}
    </Panel>
  );
}
