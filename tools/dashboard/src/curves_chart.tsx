import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { Chart } from "./chart_tools";
import { fetch_candidate } from "./connection";
import { type Curve, finished_curve, metric_names, seen_of } from "./curve";
import { metric } from "./format";
import type { Candidate } from "./model";
import type { Moment } from "./moment";
import { CandidateLink, Empty, Panel } from "./parts";
import type { Place } from "./place";
import { axis, metric_axis, Plot, whole_numbers } from "./plot";
import type { Run } from "./run";
import type { Theme } from "./theme";

const most_curves = 6;

/** Metrics by epoch of a few candidates, each a line. */
export function Curves({ curves, metric_name, place }: { curves: Curve[]; metric_name: string; place: Place }) {
  const shape = curves.map((c) => `${c.id}:${c.epochs.length}`).join(" ");
  const data = useMemo<uPlot.AlignedData>(() => {
    const last = Math.max(1, ...curves.map((c) => c.of ?? c.epochs.at(-1)?.number ?? 0));
    const numbers = Array.from({ length: last }, (_, i) => i + 1);
    return [
      numbers,
      ...curves.map((c) => {
        const by_number = new Map(c.epochs.map((e) => [e.number, e.metrics[metric_name] ?? null]));
        return numbers.map((n) => by_number.get(n) ?? null);
      }),
    ];
  }, [shape, metric_name]);

  const now = useRef(curves);
  now.current = curves;
  const make = (theme: Theme): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: false, range: (_, low, high) => [low, Math.max(high, low + 1)] } },
    axes: [axis(theme, { incrs: whole_numbers!, space: 40 }), metric_axis(theme)],
    series: [
      {},
      ...curves.map((_, i) => ({
        stroke: theme.series[i % theme.series.length]!,
        width: 1.75,
        spanGaps: true,
        points: { show: (data[0]?.length ?? 0) < 30, size: 4 },
      })),
    ],
    hooks: { draw: [(u) => draw_counts(u, theme, now.current)] },
  });
  const table = () => ({
    columns: ["epoch", ...curves.map((c) => `#${c.id}`), ...curves.map((c) => `#${c.id} counts`)],
    rows: Array.from(data[0], (n, i): (string | number | null)[] => [n, ...curves.map((_, c) => data[c + 1]![i] ?? null), ...curves.map((c) => (c.counts === n ? "yes" : ""))]),
  });
  return (
    <Chart name={`${metric_name} by epoch`} table={table}>
      <Plot label={`${metric_name} by epoch of ${curves.map((c) => `#${c.id}`).join(", ")}`} data={data} height={240} zooms
        kind={`curves ${curves.map((c) => c.id).join(" ")} ${(data[0]?.length ?? 0) < 30}`} make={make} />
      <ul class="legend" data-test="curves">
        {curves.map((c, i) => (
          <li key={c.id}>
            <i class={`key line series-${i % 6}`} />
            <CandidateLink id={c.id} place={place} /> epoch {seen_of(c)?.number ?? 0}: {metric(seen_of(c)?.metrics[metric_name])}
          </li>
        ))}
        {curves.some((c) => c.counts !== undefined) && <li><i class="key ring" />the epoch that counts: its weights were kept</li>}
      </ul>
    </Chart>
  );
}

/** A ring around the epoch of each curve that counts. */
function draw_counts(u: uPlot, theme: Theme, curves: Curve[]): void {
  const dots = devicePixelRatio;
  u.ctx.save();
  u.ctx.lineWidth = 2 * dots;
  curves.forEach((c, i) => {
    const v = c.counts === undefined ? null : u.data[i + 1]?.[u.data[0].indexOf(c.counts)];
    if (v === null || v === undefined) return;
    u.ctx.strokeStyle = theme.series[i % theme.series.length]!;
    u.ctx.fillStyle = theme.panel;
    u.ctx.beginPath();
    u.ctx.arc(u.valToPos(c.counts!, "x", true), u.valToPos(v, "y", true), 5 * dots, 0, 2 * Math.PI);
    u.ctx.fill();
    u.ctx.stroke();
  });
  u.ctx.restore();
}

export function MetricChoice({ names, chosen, choose }: { names: string[]; chosen: string; choose: (name: string) => void }) {
  return (
    <label class="choice">
      <span class="sr">Metric</span>
      <select value={chosen} onChange={(e) => choose(e.currentTarget.value)}>
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
}

/** Curves of what is in training, as they grow; where nothing is, those of the fittest. */
export function CurvesChart({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const wanted = run.picture!.metric;
  const [chosen, choose] = useState<string | null>(null);
  const training = moment.generation === null && run.training.size > 0;
  const best = useBest(training ? [] : moment.best.map((r) => r.id));
  const curves: Curve[] = training
    ? [...run.training].slice(0, most_curves).map(([id, epochs]) => ({
        id, epochs: epochs.map((e) => ({ number: e.epoch, metrics: e.metrics })), of: epochs.at(-1)?.epochs,
      }))
    : best.filter((c) => c.evaluation?.curve.length).map((c) => finished_curve(c));
  const names = metric_names(curves);
  const shown = chosen !== null && names.includes(chosen) ? chosen : names.includes(wanted) ? wanted : (names[0] ?? wanted);
  return (
    <Panel title={training ? "Learning curves, in training" : "Learning curves of the fittest"}
      note={names.length > 1 ? <MetricChoice names={names} chosen={shown} choose={choose} /> : shown}>
      {curves.length ? <Curves curves={curves} metric_name={shown} place={place} /> : <Empty>No epoch has ended yet.</Empty>}
    </Panel>
  );
}

/** Fetched once each. */
function useBest(ids: number[]): Candidate[] {
  const [known, set] = useState(new Map<number, Candidate>());
  const key = ids.join(" ");
  useEffect(() => {
    let wanted = true;
    for (const id of ids)
      if (!known.has(id))
        fetch_candidate(id).then(
          (c) => wanted && c.evaluation && set((before) => new Map(before).set(id, c)),
          () => undefined, // Its line is left out.
        );
    return () => {
      wanted = false;
    };
  }, [key]);
  return ids.flatMap((id) => known.get(id) ?? []);
}
