import { useCallback } from "preact/hooks";
import { Chart } from "./chart_tools";
import type { Table } from "./csv";
import { type Canvas, Drawing } from "./drawing";
import { class_figures } from "./examined";
import { Forecasts } from "./forecast_charts";
import { count, metric, rounded } from "./format";
import type { ColumnImportance, TestDetails } from "./model";
import { Panel } from "./parts";

// The findings of the test about the model that is used beside its metrics: which classes it takes for which and how sure it is,
// or how far off it is, and which columns matter to it.

export function Details({ details, of }: { details: TestDetails; of: string }) {
  return (
    <>
      {details.classes && details.confusion && <Classes classes={details.classes} confusion={details.confusion} of={of} />}
      {!!details.forecasts?.length && <Forecasts forecasts={details.forecasts} />}
      {!!details.pairs?.length && <Residuals pairs={details.pairs} of={of} />}
      {!!details.reliability?.bins.length && <Reliability reliability={details.reliability} />}
      {!!details.columns?.columns.length && <Columns columns={details.columns} />}
    </>
  );
}

function Reliability({ reliability }: { reliability: NonNullable<TestDetails["reliability"]> }) {
  const { bins, error } = reliability;
  const table = (): Table => ({ columns: ["probability of the predicted class", "test examples", "right"], rows: bins.map((b) => [b.said, b.examples, b.right]) });
  return (
    <Panel title="How sure, and how right" class="half" note={`expected calibration error ${metric(error)}`}>
      <Chart name="Reliability" table={table} only={["CSV"]}>
        <div class="scroll data plain" tabIndex={0} role="group" aria-label="Reliability">
          <table class="lines" data-test="reliability">
            <thead><tr><th scope="col" class="n">says</th><th scope="col" class="n">is right</th><th scope="col" class="n">examples</th><th scope="col" /></tr></thead>
            <tbody>
              {bins.map((b) => (
                <tr key={b.said}>
                  <td class="n">{metric(b.said)}</td><td class="n">{metric(b.right)}</td><td class="n">{count(b.examples)}</td>
                  <td><progress max={1} value={b.right} aria-label={`right where it says ${metric(b.said)}`} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Chart>
    </Panel>
  );
}

function Columns({ columns }: { columns: NonNullable<TestDetails["columns"]> }) {
  const all: ColumnImportance[] = columns.columns;
  const most = Math.max(1e-12, ...all.map((c) => c.worse));
  const table = (): Table => ({ columns: ["column", "worse", "low", "high"], rows: all.map((c) => [c.column, c.worse, c.low, c.high]) });
  return (
    <Panel title="The columns that matter" class="half" note={`${columns.metric} worse by so much without one, with its 95 % interval`}>
      <Chart name="Importance of columns" table={table} only={["CSV"]}>
        <div class="scroll data plain" tabIndex={0} role="group" aria-label="Importance of columns">
          <table class="lines" data-test="columns">
            <thead><tr><th scope="col">column</th><th scope="col" class="n">worse by</th><th scope="col" class="n">from</th><th scope="col" class="n">to</th><th scope="col" /></tr></thead>
            <tbody>
              {all.map((c) => (
                <tr key={c.column}>
                  <th scope="row">{c.column}</th><td class="n">{metric(c.worse)}</td><td class="n">{metric(c.low)}</td><td class="n">{metric(c.high)}</td>
                  <td><progress max={most} value={Math.max(0, c.worse)} aria-label={c.column} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Chart>
    </Panel>
  );
}

/** The number of classes beyond which a name would no longer be readable beside its cell. */
const most_named = 26;

function Classes({ classes, confusion, of }: { classes: string[]; confusion: number[][]; of: string }) {
  const figures = class_figures(confusion);
  const matrix = (): Table => ({ columns: ["class", ...classes.map((c) => `taken for ${c}`)], rows: classes.map((c, i) => [c, ...confusion[i]!]) });
  const per_class = (): Table => ({
    columns: ["class", "examples", "precision", "recall", "F1"],
    rows: figures.map((f, i) => [classes[i]!, f.examples, f.precision, f.recall, f.f1]),
  });
  const wrong = confusion.reduce((sum, row, i) => sum + row.reduce((s, n, j) => s + (i === j ? 0 : n), 0), 0);
  const all = figures.reduce((sum, f) => sum + f.examples, 0);
  return (
    <>
      <Panel title={`Confusion matrix of the ${of}`} class="half" note={`${count(wrong)} of ${count(all)} test examples are wrong`}>
        <Chart name="Confusion matrix" table={matrix} only={["Table", "CSV"]}>
          {classes.length <= most_named ? <Matrix classes={classes} confusion={confusion} of={of} /> : <MatrixDrawing classes={classes} confusion={confusion} />}
        </Chart>
      </Panel>
      <Panel title="Classes" class="half" note="on test examples">
        <Chart name="Figures of each class" table={per_class} only={["CSV"]}>
          <div class="scroll data plain" tabIndex={0} role="group" aria-label="Figures of each class">
            <table class="lines" data-test="classes">
              <thead><tr><th scope="col">class</th><th scope="col" class="n">examples</th><th scope="col" class="n">precision</th><th scope="col" class="n">recall</th><th scope="col" class="n">F1</th></tr></thead>
              <tbody>
                {figures.map((f, i) => (
                  <tr key={i}><th scope="row">{classes[i]}</th><td class="n">{count(f.examples)}</td><td class="n">{metric(f.precision)}</td><td class="n">{metric(f.recall)}</td><td class="n">{metric(f.f1)}</td></tr>
                ))}
              </tbody>
            </table>
          </div>
        </Chart>
      </Panel>
    </>
  );
}

/** A table whose cells are the darker, the more of the class's examples they have. */
function Matrix({ classes, confusion, of }: { classes: string[]; confusion: number[][]; of: string }) {
  const shade = (row: number[], n: number) => {
    const all = row.reduce((a, b) => a + b, 0);
    return n === 0 || all === 0 ? 0 : Math.max(1, Math.ceil((5 * n) / all));
  };
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`Confusion matrix of the ${of} on test examples`}>
      <table class="confusion" data-test="confusion">
        <caption>rows: what it is; columns: what it was taken for</caption>
        <thead><tr><td />{classes.map((c) => <th key={c} scope="col" title={c}>{c}</th>)}</tr></thead>
        <tbody>
          {confusion.map((row, i) => (
            <tr key={i}>
              <th scope="row" title={classes[i]}>{classes[i]}</th>
              {row.map((n, j) => <td key={j} class={`${i === j ? "right" : "wrong"} shade-${shade(row, n)}`}>{n || ""}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MatrixDrawing({ classes, confusion }: { classes: string[]; confusion: number[][] }) {
  const draw = useCallback((c: Canvas) => {
    const side = Math.min(c.width, c.height) / classes.length;
    confusion.forEach((row, i) => {
      const all = Math.max(1, row.reduce((a, b) => a + b, 0));
      row.forEach((n, j) => {
        if (!n) return;
        c.context.globalAlpha = 0.15 + 0.85 * (n / all);
        c.context.fillStyle = i === j ? c.theme.accent : c.theme.bad;
        c.context.fillRect(j * side, i * side, Math.max(1, side - 0.5), Math.max(1, side - 0.5));
      });
    });
    c.context.globalAlpha = 1;
  }, [confusion]);
  return <Drawing height={360} draw={draw} label={`Confusion matrix of ${classes.length} classes; the table below has its numbers`} />;
}

/** Predicted against actual values, and how far off they are. */
function Residuals({ pairs, of }: { pairs: [number, number][]; of: string }) {
  const errors = pairs.map(([actual, predicted]) => predicted - actual);
  const sorted = errors.map(Math.abs).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  const bias = errors.reduce((a, b) => a + b, 0) / errors.length;
  const table = (): Table => ({ columns: ["actual", "predicted", "residual"], rows: pairs.map(([actual, predicted]) => [actual, predicted, rounded(predicted - actual, 9)]) });
  const note = `of ${count(pairs.length)} test examples`;
  return (
    <>
      <Panel title="Predicted against actual" class="half" note={note}>
        <Chart name="Predicted against actual" table={table}><Pairs pairs={pairs} residual={false} /></Chart>
      </Panel>
      <Panel title={`Residuals of the ${of}`} class="half" note={note}>
        <Chart name="Residuals" table={table}>
          <Pairs pairs={pairs} residual />
          <ul class="legend" data-test="residuals">
            <li class="lead">half are within {metric(at(0.5))}</li><li>nine of ten within {metric(at(0.9))}</li><li>mean residual {metric(bias)}</li>
          </ul>
        </Chart>
      </Panel>
    </>
  );
}

function Pairs({ pairs, residual }: { pairs: [number, number][]; residual: boolean }) {
  const draw = useCallback((c: Canvas) => {
    const ys = pairs.map(([actual, predicted]) => (residual ? predicted - actual : predicted));
    const xs = pairs.map(([actual]) => actual);
    const low = (values: number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = (values: number[]) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    const x_range: [number, number] = [low(xs), high(xs)];
    const most = Math.max(Math.abs(low(ys)), Math.abs(high(ys)), 1e-12);
    const y_range: [number, number] = residual ? [-most, most] : [Math.min(low(ys), x_range[0]), Math.max(high(ys), x_range[1])];
    const [left, bottom, top, right] = [58, 22, 8, 8];
    const x_of = (v: number) => left + 4 + ((v - x_range[0]) / (x_range[1] - x_range[0] || 1)) * (c.width - left - right - 8);
    const y_of = (v: number) => c.height - bottom - 4 - ((v - y_range[0]) / (y_range[1] - y_range[0] || 1)) * (c.height - top - bottom - 8);
    const { context, theme } = c;
    context.strokeStyle = theme.line;
    context.strokeRect(left + 0.5, top + 0.5, c.width - left - right - 1, c.height - top - bottom - 1);
    // The line is the one on which a perfect prediction would be.
    context.strokeStyle = theme.muted;
    context.beginPath();
    context.moveTo(x_of(x_range[0]), y_of(residual ? 0 : x_range[0]));
    context.lineTo(x_of(x_range[1]), y_of(residual ? 0 : x_range[1]));
    context.stroke();
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.55;
    xs.forEach((x, i) => {
      context.beginPath();
      context.arc(x_of(x), y_of(ys[i]!), 2.6, 0, 2 * Math.PI);
      context.fill();
    });
    context.globalAlpha = 1;
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    for (const [v, align] of [[x_range[0], "left"], [x_range[1], "right"]] as const) {
      context.textAlign = align;
      context.fillText(String(Number(v.toPrecision(4))), align === "left" ? left : c.width - right, c.height - bottom + 6);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const v of residual ? [y_range[0], 0, y_range[1]] : y_range) context.fillText(String(Number(v.toPrecision(4))), left - 6, y_of(v));
  }, [pairs, residual]);
  return <Drawing height={260} draw={draw} label={`${residual ? "Residuals" : "Predicted values"} against actual values of ${pairs.length} test examples`} />;
}
