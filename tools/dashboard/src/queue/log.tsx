import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Empty, Panel } from "../parts";
import { type Entry, is_over, readable_log } from "./model";
import { fetch_log, pause } from "./server";

/** How much of a log is shown: its end. */
const most_bytes = 200_000;
const pause_ms = 500;

interface Text {
  text: string;
  /** Something came before it. */
  cut: boolean;
}

/** Follows the log of an entry until that is over. */
function use_log(entry: Entry): { log: Text; problem: string } {
  const [log, set] = useState<Text>({ text: "", cut: false });
  const [problem, set_problem] = useState("");
  const theirs = Boolean(entry.command);
  const over = is_over(entry);
  useEffect(() => {
    if (!theirs) return;
    const stop = new AbortController();
    const decoder = new TextDecoder();
    const kept: Text = { text: "", cut: false };

    async function follow(): Promise<void> {
      let from: { offset: number } | { tail: number } = { tail: most_bytes };
      for (;;) {
        const piece = await fetch_log(entry.id, from, stop.signal);
        if ("tail" in from) kept.cut = piece.offset > 0;
        from = { offset: piece.offset + piece.bytes.length };
        if (piece.bytes.length > 0) {
          kept.text += decoder.decode(piece.bytes, { stream: true });
          if (kept.text.length > 2 * most_bytes) Object.assign(kept, { text: kept.text.slice(-most_bytes), cut: true });
          set({ ...kept });
          continue;
        }
        if (over) return;
        await pause(pause_ms);
      }
    }

    follow().catch((e: Error) => e.name !== "AbortError" && set_problem(e.message));
    return () => stop.abort();
    // Once it is over, its log is read once more: what it wrote last may have come after the last look.
  }, [entry.id, theirs, over]);
  return { log, problem };
}

export function Log({ entry }: { entry: Entry }) {
  const { log, problem } = use_log(entry);
  const box = useRef<HTMLPreElement>(null);
  const at_end = useRef(true);
  // Whoever has scrolled up to read stays there.
  useLayoutEffect(() => {
    if (box.current && at_end.current) box.current.scrollTop = box.current.scrollHeight;
  }, [log]);
  if (!entry.command) return <Panel title="Log" class="two"><Empty>It is read by {entry.user} and by admins.</Empty></Panel>;
  const says = problem || (is_over(entry) ? "" : "as it is written");
  return (
    <Panel title="Log" class="two" note={<span role="status" class={problem ? "problem" : ""}>{says}</span>}>
      {log.cut && <p class="hint shown">This is its end; <code>clade logs {entry.id}</code> prints all of it.</p>}
      <pre class="log" ref={box} tabIndex={0} role="region" aria-label="What it has written" data-test="log"
        onScroll={(e) => {
          const here = e.currentTarget;
          at_end.current = here.scrollTop + here.clientHeight >= here.scrollHeight - 20;
        }}>{readable_log(log.text)}</pre>
      {log.text === "" && <p class="empty">It has written nothing{is_over(entry) ? "" : " yet"}.</p>}
    </Panel>
  );
}
