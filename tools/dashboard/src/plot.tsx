import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { metric } from "./format";
import { type Theme, use_theme } from "./theme";

interface PlotParams {
  /** A description of the drawing, for those who do not see it. */
  label: string;
  data: uPlot.AlignedData;
  height: number;
  /** Made anew when this changes, or the theme. */
  kind: string;
  make: (theme: Theme) => Omit<uPlot.Options, "width" | "height">;
  /** Dragging over the chart zooms; a double click shows all again. */
  zooms?: boolean;
  /** Somebody clicks where the cursor is, and does not drag. */
  press?: (u: uPlot) => void;
}

/** A chart that is as wide as its place. */
export function Plot({ label, data, height, kind, make, zooms, press }: PlotParams) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = use_theme();
  const latest = useRef({ make, press });
  latest.current = { make, press };
  const [zoomed, set_zoomed] = useState(false);
  const whole = useRef(false);

  useEffect(() => {
    const here = place.current!;
    const width = () => Math.max(here.clientWidth, 120);
    const options = { padding: [8, 12, 0, 0] as uPlot.Padding, ...latest.current.make(theme), width: width(), height };
    if (zooms) add_zoom(options, (is) => {
      whole.current = !is;
      set_zoomed(is);
    });
    const made = new uPlot(options, data, here);
    // The first click of two is none: two show all again.
    let clicked = 0;
    made.over.addEventListener("click", (e) => {
      clearTimeout(clicked);
      if (e.detail < 2) clicked = window.setTimeout(() => latest.current.press?.(made), zooms ? 220 : 0);
    });
    plot.current = made;
    whole.current = true;
    set_zoomed(false);
    const resized = new ResizeObserver(() => made.setSize({ width: width(), height }));
    resized.observe(here);
    return () => {
      clearTimeout(clicked);
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [theme, kind, height]);

  // Data that come while somebody looks closely do not take the place away.
  useEffect(() => {
    plot.current?.setData(data, whole.current);
    if (!whole.current) plot.current?.redraw();
  }, [data]);

  function show_all(): void {
    whole.current = true;
    set_zoomed(false);
    plot.current?.setData(plot.current.data);
  }

  return (
    <div class="zoom">
      <div class="plot" role="img" aria-label={label} ref={place} />
      {zoomed && <button type="button" class="reset" onClick={show_all}>Show all</button>}
    </div>
  );
}

/** Tells whether a part is shown, which is so after a drag, and no longer after a double click. */
function add_zoom(options: uPlot.Options, tell: (zoomed: boolean) => void): void {
  options.cursor = { ...options.cursor, drag: { x: true, y: true, uni: 24, dist: 5, setScale: true } };
  const hooks = options.hooks ?? {};
  options.hooks = {
    ...hooks,
    setSelect: [...(hooks.setSelect ?? []), (u) => u.select.width > 0 && tell(true)],
  };
  const bind = options.cursor.bind ?? {};
  options.cursor.bind = {
    ...bind,
    dblclick: (u, target, handler) => (e) => {
      handler(e);
      tell(false);
      return bind.dblclick?.(u, target, handler)?.(e) ?? null;
    },
  };
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
