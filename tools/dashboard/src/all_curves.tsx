import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { QueryField, use_found, use_names } from "./candidates";
import { Chart } from "./chart_tools";
import { fetch_curves } from "./connection";
import { type Curve, epoch_that_counts, metric_names } from "./curve";
import { MetricChoice } from "./curves_chart";
import { counted, metric } from "./format";
import { is_evaluated, type Moment } from "./moment";
import { CandidateLink, Empty, Panel } from "./parts";
import { address_of, go, type Place, set_option } from "./place";
import { axis, metric_axis, Plot, whole_numbers } from "./plot";
import type { Run } from "./run";
import type { Theme } from "./theme";

// Learning curves of many: some chosen ones in colors of their own, and behind them those that the query finds.

/** The number of lines that can be told apart behind the others. */
const most_behind = 200;
const most_chosen = 6;

/** Curves of these, as they arrive; each is fetched once. */
function use_curves(run: Run, ids: number[]): Curve[] {
  const known = useRef({ started: run.picture!.started, curves: new Map<number, Curve>() });
  const [, drawn] = useState(0);
  if (known.current.started !== run.picture!.started) known.current = { started: run.picture!.started, curves: new Map() };
  const key = ids.join();
  useEffect(() => {
    let wanted = true;
    const { curves } = known.current;
    const fetch_all = async () => {
      for (let missing = ids.filter((id) => !curves.has(id)); wanted && missing.length; missing = ids.filter((id) => !curves.has(id))) {
        const answer = await fetch_curves(missing.slice(0, 50));
        for (const c of answer) curves.set(c.id, { id: c.id, epochs: c.curve, counts: epoch_that_counts(c) });
        if (!answer.length) return;
        if (wanted) drawn((n) => n + 1);
      }
    };
    // The curves that came are drawn; the stream says when the server is gone.
    fetch_all().catch(() => undefined);
    return () => {
      wanted = false;
    };
  }, [key]);
  return ids.flatMap((id) => known.current.curves.get(id) ?? []);
}

export function AllCurves({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const names = use_names(run);
  const { found, problem } = use_found(run, moment, place.query);
  const behind = useMemo(() => {
    const all = found.filter((r) => is_evaluated(r, moment.cut) && r.equal_to === null && r.fitness !== null);
    const step = Math.max(1, Math.ceil(all.length / most_behind));
    return all.filter((_, i) => i % step === 0).map((r) => r.id);
  }, [found, moment.cut]);
  const chosen = place.ids.length ? place.ids : moment.best.slice(0, 3).map((r) => r.id);
  const curves = use_curves(run, [...chosen, ...behind.filter((id) => !chosen.includes(id))]);
  const metrics = metric_names(curves);
  const option = place.options["metric"] ?? run.picture!.metric;
  const shown = metrics.includes(option) ? option : (metrics[0] ?? option);
  const log = place.options["logy"] === "1";
  return (
    <Panel title="Learning curves" wide note={<MetricChoice names={metrics} chosen={shown} choose={(v) => set_option(place, "metric", v)} />}>
      <QueryField place={place} problem={problem} names={[...names.hyperparameters, ...names.metrics]} />
      <Chosen chosen={chosen} place={place} log={log} />
      {curves.some((c) => c.epochs.length) ? <Lines curves={curves.filter((c) => c.epochs.length)} chosen={chosen} metric_name={shown} log={log} place={place} />
        : <Empty>{behind.length ? "They are being fetched." : "No candidate has a curve yet."}</Empty>}
    </Panel>
  );
}

function Chosen({ chosen, place, log }: { chosen: number[]; place: Place; log: boolean }) {
  const [text, set_text] = useState("");
  return (
    <form class="choices" aria-label="Which stand out" onSubmit={(e) => {
      e.preventDefault();
      const id = Number(text.replace("#", ""));
      if (Number.isSafeInteger(id) && id > 0) go(place, { ids: [...chosen.filter((c) => c !== id), id].slice(-most_chosen) }, true);
      set_text("");
    }}>
      {chosen.map((id, i) => (
        <span key={id} class="chip">
          <i class={`key line series-${i % 6}`} /><CandidateLink id={id} place={place} />
          <button type="button" class="quiet" aria-label={`Leave #${id} out`} onClick={() => go(place, { ids: chosen.filter((c) => c !== id) }, true)}>×</button>
        </span>
      ))}
      <label>Add <input type="text" inputMode="numeric" size={6} value={text} placeholder="#12" onInput={(e) => set_text(e.currentTarget.value)} /></label>
      {chosen.length > 1 && <a href={address_of(place, { view: "compare", ids: chosen })}>Compare them</a>}
      <label><input type="checkbox" checked={log} onChange={(e) => set_option(place, "logy", e.currentTarget.checked ? "1" : "")} />logarithmic</label>
    </form>
  );
}

function Lines({ curves, chosen, metric_name, log, place }: { curves: Curve[]; chosen: number[]; metric_name: string; log: boolean; place: Place }) {
  // Curves that stand out are drawn last.
  const order = useMemo(() => [...curves.filter((c) => !chosen.includes(c.id)), ...chosen.flatMap((id) => curves.find((c) => c.id === id) ?? [])], [curves.map((c) => c.id).join(), chosen.join()]);
  const [pointed, set_pointed] = useState<{ curve: Curve; epoch: number; value: number } | null>(null);
  const now = useRef({ order, pointed, place });
  now.current = { order, pointed, place };
  const data = useMemo<uPlot.AlignedData>(() => {
    const last = Math.max(2, ...order.map((c) => c.epochs.at(-1)?.number ?? 0));
    const numbers = Array.from({ length: last }, (_, i) => i + 1);
    return [numbers, ...order.map((c) => {
      const own = new Map(c.epochs.map((e) => [e.number, e.metrics[metric_name] ?? null]));
      return numbers.map((n) => {
        const v = own.get(n) ?? null;
        return log && v !== null && v <= 0 ? null : v;
      });
    })];
  }, [order, metric_name, log]);
  const make = (theme: Theme): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { x: { time: false }, y: { distr: log ? 3 : 1 } },
    axes: [axis(theme, { incrs: whole_numbers!, space: 40 }), log ? axis(theme, { size: 56, values: (_, splits) => splits.map((s) => (s === null ? "" : String(Number(s.toPrecision(2))))) }) : metric_axis(theme)],
    series: [{}, ...order.map((c) => {
      const place_of = chosen.indexOf(c.id);
      return {
        stroke: place_of < 0 ? `${theme.muted}${order.length > 60 ? "44" : "77"}` : theme.series[place_of % theme.series.length]!,
        width: place_of < 0 ? 1 : 2.25, spanGaps: true, points: { show: false },
      };
    })],
    hooks: {
      setCursor: [(u) => set_pointed(nearest(u, now.current.order))],
      draw: [(u) => draw_counts(u, theme, now.current.order, chosen)],
    },
  });
  const press = () => {
    const at = now.current.pointed;
    if (at) go(now.current.place, { view: "candidate", ids: [at.curve.id] });
  };
  const table = () => ({
    columns: ["epoch", ...order.toReversed().map((c) => `#${c.id}`)],
    rows: Array.from(data[0], (n, i): (number | null)[] => [n, ...order.toReversed().map((_, j) => data[order.length - j]![i] ?? null)]),
  });
  return (
    <Chart name={`${metric_name} by epoch`} table={table}>
      <Plot label={`${metric_name} by epoch of ${counted(order.length, "candidate")}`} data={data} height={440} zooms
        kind={`all ${order.map((c) => c.id).join()} ${chosen.join()} ${log}`} make={make} press={press} />
      <ul class="legend" data-test="all-curves">
        <li class="lead">{counted(order.length, "candidate")}</li>
        <li><i class="key ring" />the epoch that counts</li>
        {pointed && <li><CandidateLink id={pointed.curve.id} place={place} /> epoch {pointed.epoch}: {metric(pointed.value)}</li>}
      </ul>
    </Chart>
  );
}

/** The line next to the pointer, if one is near. */
function nearest(u: uPlot, order: Curve[]): { curve: Curve; epoch: number; value: number } | null {
  const i = u.cursor.idx;
  const { top = -1 } = u.cursor;
  if (i === null || i === undefined || top < 0) return null;
  let best: { curve: Curve; epoch: number; value: number } | null = null;
  let least = 12;
  order.forEach((curve, s) => {
    const v = u.data[s + 1]?.[i];
    if (v === null || v === undefined) return;
    const distance = Math.abs(u.valToPos(v, "y") - top);
    if (distance <= least) [best, least] = [{ curve, epoch: u.data[0][i]!, value: v }, distance];
  });
  return best;
}

function draw_counts(u: uPlot, theme: Theme, order: Curve[], chosen: number[]): void {
  const dots = devicePixelRatio;
  u.ctx.save();
  u.ctx.lineWidth = 2 * dots;
  order.forEach((c, s) => {
    const at = chosen.indexOf(c.id);
    const v = at < 0 || c.counts === undefined ? null : u.data[s + 1]?.[c.counts - 1];
    if (v === null || v === undefined) return;
    u.ctx.strokeStyle = theme.series[at % theme.series.length]!;
    u.ctx.fillStyle = theme.panel;
    u.ctx.beginPath();
    u.ctx.arc(u.valToPos(c.counts!, "x", true), u.valToPos(v, "y", true), 5 * dots, 0, 2 * Math.PI);
    u.ctx.fill();
    u.ctx.stroke();
  });
  u.ctx.restore();
}
