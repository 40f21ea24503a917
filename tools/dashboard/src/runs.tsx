import { useEffect, useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { Chart } from "./chart_tools";
import { ask } from "./connection";
import { count, counted, date_time, duration, metric, rounded } from "./format";
import { Empty, Panel } from "./parts";
import { type Place, set_option } from "./place";
import { axis, metric_axis, Plot } from "./plot";
import type { Run } from "./run";
import type { Theme } from "./theme";

// The runs that lie beside this one, and the best so far of several in one chart.

interface Listed {
  name: string;
  file: string;
  state: string;
  metric: string;
  maximize: boolean;
  started_ms: number | null;
  seed: number;
  evaluated: number;
  failed: number;
  best: number | null;
  best_fitness: number | null;
  training_seconds: number;
}

interface Generation {
  generation: number;
  evaluated: number;
  best_fitness: number | null;
  closed_ms: number | null;
  training_seconds: number;
}

interface Told extends Listed {
  generations: Generation[];
}

const most_chosen = 6;
const xs: [string, string][] = [["evaluations", "evaluations"], ["generation", "generation"], ["seconds", "seconds since the start"], ["training", "seconds of training"]];

function folder_of(run: Listed): string {
  return run.file.split("/").at(-2) ?? run.name;
}

/** A point for each generation: where it is on that axis, and the best until then. */
function line_of(run: Told, x: string): [number, number][] {
  let best: number | null = null;
  let evaluated = 0;
  let training = 0;
  return run.generations.flatMap((g): [number, number][] => {
    evaluated += g.evaluated;
    training += g.training_seconds;
    const v = g.best_fitness;
    if (v !== null && (best === null || (run.maximize ? v > best : v < best))) best = v;
    const since = g.closed_ms === null || run.started_ms === null ? null : (g.closed_ms - run.started_ms) / 1000;
    const at = x === "generation" ? g.generation : x === "evaluations" ? evaluated : x === "training" ? training : since;
    return at === null || best === null ? [] : [[at, best]];
  });
}

export function Runs({ run, place }: { run: Run; place: Place }) {
  const p = run.picture!;
  const [runs, set_runs] = useState<Listed[] | null>(null);
  const [problem, set_problem] = useState("");
  useEffect(() => {
    ask<Listed[]>("/api/runs").then(set_runs, (e: Error) => set_problem(e.message));
  }, [p.generations.length, p.state]);
  const here = runs?.find((r) => r.started_ms === p.started);
  const chosen = useMemo(() => {
    const named = (place.options["runs"] ?? "").split(",").filter(Boolean);
    if (named.length || !runs) return named.slice(0, most_chosen);
    // To begin with, the latest that are measured as this one is.
    return runs.filter((r) => r.metric === p.metric).sort((a, b) => Number(b === here) - Number(a === here)).slice(0, 4).map(folder_of);
  }, [place.options["runs"], runs]);
  const told = use_told(chosen, p.generations.length);
  if (problem) return <Panel title="Runs" wide><Empty>{problem}.</Empty></Panel>;
  if (!runs) return <Panel title="Runs" wide><p class="empty" role="status">They are being read.</p></Panel>;
  const choose = (folder: string, on: boolean) =>
    set_option(place, "runs", (on ? [...chosen, folder].slice(-most_chosen) : chosen.filter((c) => c !== folder)).join() || "none");
  return (
    <div class="grid">
      <Lines told={told} chosen={chosen} place={place} />
      <Panel title="Runs" wide note={`${counted(runs.length, "run")} in ${here ? here.file.split("/").slice(0, -2).join("/") : "this folder"}`}>
        <div class="scroll" tabIndex={0} role="group" aria-label="All runs">
          <table class="lines" data-test="runs">
            <thead><tr><th scope="col"><span class="sr">in the chart</span></th><th scope="col">run</th><th scope="col">state</th><th scope="col">started</th><th scope="col">metric</th>
              <th scope="col" class="n">best</th><th scope="col" class="n">evaluated</th><th scope="col" class="n">failed</th><th scope="col" class="n">training</th><th scope="col" class="n">seed</th></tr></thead>
            <tbody>
              {runs.map((r) => {
                const folder = folder_of(r);
                return (
                  <tr key={folder} class={r === here ? "champion" : ""}>
                    <td><input type="checkbox" checked={chosen.includes(folder)} aria-label={`${folder} in the chart`} onChange={(e) => choose(folder, e.currentTarget.checked)} /></td>
                    <th scope="row">{folder}{r === here && " (this one)"}</th>
                    <td>{r.state}</td><td>{date_time(r.started_ms)}</td><td>{r.metric}</td>
                    <td class="n">{metric(r.best_fitness)}</td><td class="n">{count(r.evaluated)}</td><td class="n">{count(r.failed)}</td><td class="n">{duration(r.training_seconds)}</td><td class="n">{r.seed}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        <p class="hint shown">Another run is opened by <code>clade attach RUN --web</code>.</p>
      </Panel>
    </div>
  );
}

function use_told(folders: string[], generations: number): Told[] {
  const [told, set] = useState(new Map<string, Told>());
  useEffect(() => {
    let wanted = true;
    for (const folder of folders)
      ask<Told>(`/api/run/${encodeURIComponent(folder)}`).then(
        (one) => wanted && set((before) => new Map(before).set(folder, one)),
        () => undefined, // It is left out of the chart; the list says how it is.
      );
    return () => {
      wanted = false;
    };
  }, [folders.join(), generations]);
  return folders.flatMap((f) => told.get(f) ?? []);
}

function Lines({ told, chosen, place }: { told: Told[]; chosen: string[]; place: Place }) {
  const x = xs.some(([name]) => name === place.options["x"]) ? place.options["x"]! : "evaluations";
  const data = useMemo<uPlot.AlignedData>(() => {
    const lines = told.map((t) => line_of(t, x));
    if (!lines.length) return [[], []];
    return uPlot.join(lines.map((line): uPlot.AlignedData => [line.map((p) => p[0]), line.map((p) => p[1])]));
  }, [told, x]);
  const names = told.map(folder_of);
  const make = (theme: Theme): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: false } },
    axes: [axis(theme, { space: 60 }), metric_axis(theme)],
    series: [{}, ...told.map((_, i) => ({
      stroke: theme.series[i % theme.series.length]!, width: 2, spanGaps: true, paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false },
    }))],
  });
  const table = () => ({
    columns: [xs.find(([name]) => name === x)![1], ...names],
    rows: Array.from(data[0], (at, i): (number | null)[] => [rounded(at, 3), ...names.map((_, j) => data[j + 1]![i] ?? null)]),
  });
  const metrics = [...new Set(told.map((t) => t.metric))];
  return (
    <Panel title="Best so far" wide note={
      <label>by <select value={x} onChange={(e) => set_option(place, "x", e.currentTarget.value)}>{xs.map(([name, title]) => <option key={name} value={name}>{title}</option>)}</select></label>
    }>
      {told.length ? (
        <Chart name="Best so far of runs" table={table}>
          <Plot label={`Best ${metrics.join(" or ")} so far by ${x} of ${names.join(", ")}`} data={data} height={340} zooms kind={`runs ${chosen.join()} ${names.join()} ${x}`} make={make} />
          <ul class="legend" data-test="runs-legend">
            {names.map((n, i) => <li key={n}><i class={`key line series-${i % 6}`} />{n}: {metric(told[i]!.best_fitness)}</li>)}
            {metrics.length > 1 && <li class="problem">these are measured by {metrics.join(" and ")}</li>}
          </ul>
        </Chart>
      ) : <Empty>No run is chosen in the list.</Empty>}
    </Panel>
  );
}
