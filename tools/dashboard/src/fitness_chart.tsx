import { useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { Chart } from "./chart_tools";
import { counted, metric } from "./format";
import type { GenerationLine, Picture } from "./model";
import type { Moment } from "./moment";
import { CandidateLink, Empty, Panel } from "./parts";
import { go, type Place } from "./place";
import { axis, metric_axis, Plot, whole_numbers } from "./plot";
import type { Theme } from "./theme";

type Seen = (GenerationLine & { so_far: number | null }) | undefined;

function with_best_so_far(lines: GenerationLine[], maximize: boolean): NonNullable<Seen>[] {
  let best: number | null = null;
  return lines.map((g) => {
    const v = g.best_fitness;
    if (v !== null && (best === null || (maximize ? v > best : v < best))) best = v;
    return { ...g, so_far: best };
  });
}

/** Fitness by generation: the best, the median, and the quartiles as a band; a click moves the run to that moment. */
export function FitnessChart({ picture, moment, place }: { picture: Picture; moment: Moment; place: Place }) {
  const lines = useMemo(
    () => with_best_so_far(picture.generations, picture.maximize),
    [picture.generations.length, picture.started, picture.maximize],
  );
  const [pointed, set_pointed] = useState<number | null>(null);
  const chosen = useRef<number | null>(null);
  chosen.current = moment.generation;
  const here = useRef(place);
  here.current = place;

  const data = useMemo<uPlot.AlignedData>(
    () => [
      lines.map((g) => g.generation),
      lines.map((g) => g.lower_quartile),
      lines.map((g) => g.upper_quartile),
      lines.map((g) => g.median),
      lines.map((g) => g.so_far),
      lines.map((g) => g.best_fitness),
    ],
    [lines, moment.generation],
  );

  const make = (theme: Theme): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 7 },
    },
    scales: { x: { time: false, range: (_, low, high) => [low, Math.max(high, low + 1)] } },
    axes: [axis(theme, { incrs: whole_numbers!, space: 40 }), metric_axis(theme)],
    series: [
      {},
      { stroke: "transparent", points: { show: false } },
      { stroke: "transparent", points: { show: false } },
      { stroke: theme.muted, width: 1.5, points: { show: false } },
      { stroke: theme.accent, width: 1, dash: [3, 3], points: { show: false } },
      { stroke: theme.accent, width: 2, points: { show: lines.length < 40, size: 4, fill: theme.accent } },
    ],
    bands: [{ series: [2, 1], fill: theme.band }],
    hooks: {
      setCursor: [(u) => set_pointed(u.cursor.idx ?? null)],
      draw: [(u) => draw_moment(u, theme, chosen.current)],
    },
  });

  const press = (u: uPlot) => {
    const generation = u.data[0][u.cursor.idx ?? -1];
    if (generation !== undefined) go(here.current, { generation });
  };

  if (!lines.length)
    return (
      <Panel title="Fitness by generation" wide>
        <Empty>The first generation is not closed yet.</Empty>
      </Panel>
    );
  const table = () => ({
    columns: ["generation", "best", "best so far", "median", "lower quartile", "upper quartile", "succeeded", "failed", "best candidate"],
    rows: lines.map((g) => [g.generation, g.best_fitness, g.so_far, g.median, g.lower_quartile, g.upper_quartile, g.succeeded, g.failed, g.best]),
  });
  const seen: Seen = lines[pointed ?? -1] ?? lines.find((g) => g.generation === moment.generation) ?? lines.at(-1);
  return (
    <Panel title="Fitness by generation" note={`${picture.metric}, ${picture.maximize ? "higher" : "lower"} is better`} wide>
      <Chart name={`${picture.metric} by generation`} table={table}>
      <Plot label={`Best, median and quartiles of ${picture.metric} for ${counted(lines.length, "generation")}`} data={data}
        height={280} zooms kind={`fitness ${lines.length < 40}`} make={make} press={press} />
      {seen && <Legend seen={seen} place={place} />}
      </Chart>
    </Panel>
  );
}

function Legend({ seen, place }: { seen: NonNullable<Seen>; place: Place }) {
  return (
    <ul class="legend" data-test="fitness-legend">
      <li class="lead">generation {seen.generation}</li>
      <li><i class="key line accent" />best {metric(seen.best_fitness)} {seen.best !== null && <CandidateLink id={seen.best} place={place} />}</li>
      <li><i class="key dashed accent" />so far {metric(seen.so_far)}</li>
      <li><i class="key line muted" />median {metric(seen.median)}</li>
      <li><i class="key band" />quartiles {metric(seen.lower_quartile)} to {metric(seen.upper_quartile)}</li>
      <li>{seen.succeeded} succeeded, {seen.failed} failed</li>
    </ul>
  );
}

/** The time after the chosen moment is veiled. */
function draw_moment(u: uPlot, theme: Theme, generation: number | null): void {
  if (generation === null) return;
  const x = u.valToPos(generation, "x", true);
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.globalAlpha = 0.7;
  u.ctx.fillStyle = theme.panel;
  u.ctx.fillRect(x, top, left + width - x, height);
  u.ctx.globalAlpha = 1;
  u.ctx.strokeStyle = theme.text;
  u.ctx.lineWidth = devicePixelRatio;
  u.ctx.beginPath();
  u.ctx.moveTo(x, top);
  u.ctx.lineTo(x, top + height);
  u.ctx.stroke();
  u.ctx.restore();
}
