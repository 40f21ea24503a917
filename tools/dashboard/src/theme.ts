import { useEffect, useState } from "preact/hooks";

/** The colours of the style sheet, for what is drawn on a canvas. */
export interface Theme {
  text: string;
  muted: string;
  line: string;
  panel: string;
  accent: string;
  band: string;
  bad: string;
  font: string;
  /** The colours of several lines, told apart without green and red (Okabe and Ito, 2008). */
  series: string[];
}

function read_theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: of("text"),
    muted: of("muted"),
    line: of("line"),
    panel: of("panel"),
    accent: of("accent"),
    band: of("band"),
    bad: of("bad"),
    font: `11px ${style.fontFamily}`,
    series: [0, 1, 2, 3, 4, 5].map((i) => of(`series-${i}`)),
  };
}

const dark = matchMedia("(prefers-color-scheme: dark)");

export function use_theme(): Theme {
  const [theme, set] = useState(read_theme);
  useEffect(() => {
    const changed = () => set(read_theme());
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);
  return theme;
}
