import { useCallback } from "preact/hooks";
import { Chart } from "./chart_tools";
import type { Table } from "./csv";
import { type Canvas, Drawing } from "./drawing";
import type { Forecast } from "./model";
import { Panel } from "./parts";

// Forecasts of some series of the test part: the values before, what was forecast with its 90 % interval, and what came.

export function Forecasts({ forecasts }: { forecasts: Forecast[] }) {
  return <>{forecasts.map((f) => <OneForecast key={name_of(f)} forecast={f} />)}</>;
}

function name_of(f: Forecast): string {
  return f.series.join(", ") || "the series";
}

function OneForecast({ forecast }: { forecast: Forecast }) {
  const name = name_of(forecast);
  const table = (): Table => ({
    columns: ["steps ahead", "actual", "forecast", "low", "high"],
    rows: forecast.steps.map((s) => [s.ahead, s.actual, s.predicted, s.low ?? null, s.high ?? null]),
  });
  return (
    <Panel title={`Forecast of ${name}`} class="half" note={`from ${forecast.origin} to ${forecast.to}, on test data`}>
      <Chart name={`Forecast of ${name}`} table={table}>
        <Curve forecast={forecast} />
        <ul class="legend" data-test="forecast"><li class="lead">what came</li><li>forecast, and its 90 % interval</li></ul>
      </Chart>
    </Panel>
  );
}

function Curve({ forecast }: { forecast: Forecast }) {
  const draw = useCallback((c: Canvas) => {
    const { past, steps } = forecast;
    const before = past.map((y, i) => ({ x: i - past.length + 1, y }));
    const came = [...before, ...steps.map((s) => ({ x: s.ahead, y: s.actual }))];
    const said = steps.map((s) => ({ x: s.ahead, y: s.predicted }));
    const band = steps.filter((s) => s.low !== undefined && s.high !== undefined);
    const ys = [...came, ...said].map((p) => p.y).filter((y): y is number => y !== null).concat(band.flatMap((s) => [s.low!, s.high!]));
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    const [first, last] = [came[0]!.x, Math.max(...steps.map((s) => s.ahead))];
    const [left, bottom, top, right] = [58, 22, 8, 8];
    const x_of = (v: number) => left + ((v - first) / (last - first || 1)) * (c.width - left - right);
    const y_of = (v: number) => c.height - bottom - 4 - ((v - low) / (high - low || 1)) * (c.height - top - bottom - 8);
    const { context, theme } = c;
    context.strokeStyle = theme.line;
    context.strokeRect(left + 0.5, top + 0.5, c.width - left - right - 1, c.height - top - bottom - 1);
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.2;
    context.beginPath();
    band.forEach((s) => context.lineTo(x_of(s.ahead), y_of(s.high!)));
    band.toReversed().forEach((s) => context.lineTo(x_of(s.ahead), y_of(s.low!)));
    context.fill();
    context.globalAlpha = 1;
    const line = (points: { x: number; y: number | null }[], colour: string) => {
      context.strokeStyle = colour;
      context.lineWidth = 1.6;
      context.beginPath();
      let broken = true;
      for (const { x, y } of points) {
        if (y !== null) context[broken ? "moveTo" : "lineTo"](x_of(x), y_of(y));
        broken = y === null;
      }
      context.stroke();
    };
    line(came, theme.muted);
    line(said, theme.accent);
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    for (const [at, words, align] of [[first, forecast.from, "left"], [last, forecast.to, "right"]] as const) {
      context.textAlign = align;
      context.fillText(words, align === "left" ? left : x_of(at), c.height - bottom + 6);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const v of [low, high]) context.fillText(String(Number(v.toPrecision(4))), left - 6, y_of(v));
  }, [forecast]);
  return <Drawing height={230} draw={draw} label={`Forecast of ${name_of(forecast)} beside what came; the table has its numbers`} />;
}
