import { useEffect } from "preact/hooks";
import { clock } from "./format";
import type { Moment } from "./moment";
import { go, type Place } from "./place";
import type { Run } from "./run";

/** Moves through time by generations; at its right end is now. */
export function TimeSlider({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const closed = run.picture!.generations.map((g) => g.generation);
  const now = closed.length;
  const at = moment.generation === null ? now : closed.indexOf(moment.generation);
  const says = moment.generation === null
    ? now_says(run)
    : `generation ${moment.generation}, as it was when it closed at ${clock(moment.time)}`;

  function move(to: number): void {
    go(place, { generation: to >= now ? null : (closed[Math.max(0, to)] ?? null) }, true);
  }

  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).closest("input, select, textarea")) return;
      if (e.key === "[") move(at - 1);
      else if (e.key === "]") move(at + 1);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });

  return (
    <footer class={`time ${moment.generation === null ? "" : "past"}`} aria-label="Time">
      <label for="time">Time</label>
      <button type="button" aria-label="Generation before" disabled={at <= 0} onClick={() => move(at - 1)}>◂</button>
      <input id="time" type="range" min={0} max={now} step={1} value={at} disabled={now === 0} aria-valuetext={says}
        onInput={(e) => move(e.currentTarget.valueAsNumber)} />
      <button type="button" aria-label="Generation after" disabled={at >= now} onClick={() => move(at + 1)}>▸</button>
      <output for="time" data-test="time">{says}</output>
      <button type="button" class="now" disabled={moment.generation === null} onClick={() => move(now)}>Now</button>
    </footer>
  );
}

function now_says(run: Run): string {
  const p = run.picture!;
  return p.finished ? "the end" : p.showing === "live" ? `now, in generation ${p.generation}` : `the last that is stored, in generation ${p.generation}`;
}
