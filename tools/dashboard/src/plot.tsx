import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { metric } from "./format";
import { type Theme, use_theme } from "./theme";

interface PlotParams {
  /** What is drawn, for those who do not see it. */
  label: string;
  data: uPlot.AlignedData;
  height: number;
  /** Made anew when this changes, or the theme. */
  kind: string;
  make: (theme: Theme) => Omit<uPlot.Options, "width" | "height">;
}

/** A chart that is as wide as its place. */
export function Plot({ label, data, height, kind, make }: PlotParams) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = use_theme();
  const latest = useRef(make);
  latest.current = make;

  useEffect(() => {
    const here = place.current!;
    const width = () => Math.max(here.clientWidth, 120);
    const made = new uPlot({ padding: [8, 12, 0, 0], ...latest.current(theme), width: width(), height }, data, here);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: width(), height }));
    resized.observe(here);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [theme, kind, height]);

  useEffect(() => plot.current?.setData(data), [data]);

  return <div class="plot" role="img" aria-label={label} ref={place} />;
}

export function axis(theme: Theme, more: uPlot.Axis = {}): uPlot.Axis {
  return {
    stroke: theme.muted,
    font: theme.font,
    grid: { stroke: theme.line, width: 1 },
    ticks: { stroke: theme.line, width: 1, size: 4 },
    gap: 6,
    size: 30,
    ...more,
  };
}

/** For values of a metric, as wide as its labels are. */
export function metric_axis(theme: Theme, more: uPlot.Axis = {}): uPlot.Axis {
  return axis(theme, {
    size: 52,
    values: (_, splits) => splits.map((v) => (v === null ? "" : metric_label(v, splits))),
    ...more,
  });
}

function metric_label(v: number, splits: (number | null)[]): string {
  const step = Math.abs((splits[1] ?? 1) - (splits[0] ?? 0)) || 1;
  let digits = 0;
  while (digits < 6 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) ++digits;
  return digits > 5 ? metric(v) : v.toFixed(digits);
}

export const whole_numbers: uPlot.Axis["incrs"] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
