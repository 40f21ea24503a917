import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Field } from "./fields";
import { type Forest, growing } from "./forest";
import type { Row } from "./model";

export interface Matter {
  field: Field;
  /** A share of the importance of all; their sum is 1. */
  share: number;
  /** Its place among the forest's features. */
  feature: number;
}

export interface Importance {
  forest: Forest;
  /** The most important first. */
  order: Matter[];
  /** The rows that the forest was grown on. */
  rows: Row[];
}

/** Enough for a forest to see what there is, and few enough that it is soon grown. */
const most_rows = 2000;
export const least_rows = 12;

/** So long a forest stands before it is grown anew with what came meanwhile. */
const stands_ms = 3000;

interface Known {
  rows: Row[];
  fields: Field[];
  /** Differs when the data do. */
  key: string;
}

function known_of(rows: Row[], cut: number, fields: Field[], target: Field): Known {
  const all = rows.filter((r) => typeof target.of(r, cut) === "number" && r.equal_to === null);
  const step = Math.ceil(all.length / most_rows);
  const some = step > 1 ? all.filter((_, i) => i % step === 0) : all;
  // A field that is the same in all explains nothing.
  const varied = fields.filter((f) => new Set(some.map((r) => f.of(r, cut))).size > 1);
  return { rows: some, fields: varied, key: `${some.length}/${some[0]?.id}/${some.at(-1)?.id}/${varied.length}` };
}

/** Grows a forest over what was searched, some trees at a time between frames; null while the first one for a question
    grows. `question` names what is asked of which candidates: another one is answered at once, while candidates that come
    meanwhile wait. */
export function use_importance(question: string, rows: Row[], cut: number, fields: Field[], target: Field): { importance: Importance | null; progress: number; possible: boolean } {
  const [done, set_done] = useState<{ question: string; key: string; importance: Importance } | null>(null);
  const [progress, set_progress] = useState(0);
  const known = useMemo(() => known_of(rows, cut, fields, target), [rows, cut, fields, target]);
  const latest = useRef(known);
  latest.current = known;
  const timer = useRef(0);
  const busy = useRef(false);
  const possible = known.rows.length >= least_rows && known.fields.length > 0;

  function grow(): void {
    const { rows: examples, fields: features, key } = latest.current;
    const steps = growing(features.map((f) => examples.map((r) => f.of(r, cut))), examples.map((r) => target.of(r, cut) as number));
    busy.current = true;
    const some = () => {
      for (const until = performance.now() + 12; ; ) {
        const step = steps.next();
        if (step.done) {
          const order = features.map((field, feature) => ({ field, feature, share: step.value.importance[feature]! })).sort((a, b) => b.share - a.share);
          busy.current = false;
          set_done({ question, key, importance: { forest: step.value, order, rows: examples } });
          return;
        }
        if (performance.now() < until) continue;
        set_progress(step.value);
        timer.current = window.setTimeout(some);
        return;
      }
    };
    timer.current = window.setTimeout(some);
  }

  useEffect(() => {
    if (possible) grow();
    return () => {
      clearTimeout(timer.current);
      busy.current = false;
    };
  }, [question, possible]);
  useEffect(() => {
    if (!possible || busy.current || !done || done.question !== question || done.key === known.key) return;
    const later = setTimeout(grow, stands_ms);
    return () => clearTimeout(later);
  }, [done, Math.floor(known.rows.length / 8)]);
  return { importance: done?.question === question ? done.importance : null, progress, possible };
}
