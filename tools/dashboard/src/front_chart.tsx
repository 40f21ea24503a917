import { useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { Chart } from "./chart_tools";
import { count, metric } from "./format";
import type { Picture, Row } from "./model";
import { is_evaluated, measured, type Moment } from "./moment";
import { CandidateLink, Empty, Panel } from "./parts";
import { go, type Place } from "./place";
import { axis, metric_axis, Plot } from "./plot";
import type { Theme } from "./theme";

/** The number of dots that can be told apart; the front is always whole. */
const most_dots = 4000;

function dots_of(moment: Moment, across: string): Row[] {
  const all = moment.rows.filter((r) => r.fitness !== null && is_evaluated(r, moment.cut) && r.equal_to === null);
  const step = Math.ceil(all.length / most_dots);
  const front = new Set(moment.front);
  const some = step > 1 ? all.filter((r, i) => i % step === 0 || front.has(r)) : all;
  return some.sort((a, b) => measured(a, across) - measured(b, across) || a.id - b.id);
}

/** Fitness against size, or the first objective against the second: every candidate, and the front of those that none
    is better than in all. */
export function FrontChart({ picture, moment, place }: { picture: Picture; moment: Moment; place: Place }) {
  const [pointed, set_pointed] = useState<Row | null>(null);
  const across = picture.objective.aims[1]?.metric ?? "parameters";
  const magnitudes = across === "parameters" || across === "multiply_adds";
  const dots = useMemo(() => dots_of(moment, across), [moment.key, across]);
  const now = useRef({ dots, place });
  now.current = { dots, place };
  const data = useMemo<uPlot.AlignedData>(() => {
    const front = new Set(moment.front);
    return [
      dots.map((r) => (magnitudes ? Math.max(measured(r, across), 1) : measured(r, across))),
      dots.map((r) => r.fitness),
      dots.map((r) => (front.has(r) ? r.fitness : null)),
    ];
  }, [dots]);

  const make = (theme: Theme): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 8 },
    },
    scales: { x: { time: false, distr: magnitudes ? 3 : 1 } },
    axes: [
      axis(theme, !magnitudes ? {} : {
        values: (_, splits) => splits.map((v) => (v === null ? "" : short_count(v))),
        grid: { stroke: theme.line, width: 1, filter: powers },
        ticks: { stroke: theme.line, width: 1, size: 4, filter: powers },
      }),
      metric_axis(theme),
    ],
    series: [
      {},
      { stroke: theme.muted, paths: () => null, points: { show: true, size: 4, width: 0, fill: `${theme.muted}88` } },
      {
        stroke: theme.accent, width: 1.5, spanGaps: true,
        // The steps of more than two objectives would say what is not so.
        paths: (u, i, from, to) => (picture.objective.aims.length > 2 ? null : stepped(u, i, from, to)),
        points: { show: true, size: 6, width: 0, fill: theme.accent },
      },
    ],
    hooks: { setCursor: [(u) => set_pointed(now.current.dots[u.cursor.idx ?? -1] ?? null)] },
  });

  const press = (u: uPlot) => {
    const row = now.current.dots[u.cursor.idx ?? -1];
    if (row) go(now.current.place, { view: "candidate", ids: [row.id] });
  };

  if (!dots.length)
    return <Panel title="Pareto front"><Empty>No candidate has succeeded yet.</Empty></Panel>;
  const seen = pointed ?? (picture.objective.aims.length > 1 ? moment.front[0] : moment.front.at(-1));
  const table = () => {
    const front = new Set(moment.front);
    return {
      columns: ["id", across, picture.metric, "on the front"],
      rows: dots.map((r) => [r.id, measured(r, across), r.fitness, front.has(r) ? "yes" : ""]),
    };
  };
  const volume = moment.generations.at(-1)?.hypervolume ?? null;
  return (
    <Panel title="Pareto front" note={`${picture.metric} against ${across}`}>
      <Chart name={`${picture.metric} against ${across}`} table={table}>
      <Plot label={`${picture.metric} against ${across} of ${count(dots.length)} candidates; ${moment.front.length} are on the front`}
        data={data} height={240} zooms kind="front" make={make} press={press} />
      <ul class="legend">
        <li><i class="key dot accent" />front, {moment.front.length}</li>
        <li><i class="key dot muted" />{count(dots.length)} candidates</li>
        {seen && <li><CandidateLink id={seen.id} place={place} /> {metric(seen.fitness)} with {magnitudes ? count(measured(seen, across)) : metric(measured(seen, across))}</li>}
        {volume !== null && <li>hypervolume {metric(volume)}</li>}
      </ul>
      </Chart>
    </Panel>
  );
}

function powers(_: uPlot, splits: number[]): (number | null)[] {
  return splits.map((v) => (Number.isInteger(Math.log10(v)) ? v : null));
}

function short_count(v: number): string {
  if (v >= 1e6) return `${v / 1e6}M`;
  return v >= 1e3 ? `${v / 1e3}k` : String(v);
}

/** Up where the next of the front begins. */
function stepped(u: uPlot, series: number, from: number, to: number): uPlot.Series.Paths {
  const stroke = new Path2D();
  const scale = u.series[series]!.scale!;
  let before: number | null = null;
  for (let i = from; i <= to; ++i) {
    const v = u.data[series]![i];
    if (v === null || v === undefined) continue;
    const x = u.valToPos(u.data[0][i]!, "x", true);
    const y = u.valToPos(v, scale, true);
    if (before === null) stroke.moveTo(x, y);
    else {
      stroke.lineTo(x, before);
      stroke.lineTo(x, y);
    }
    before = y;
  }
  return { stroke };
}
