import { useEffect, useState } from "preact/hooks";
import { bytes, duration } from "../format";
import { Empty, Panel } from "../parts";
import type { Entry, Processes } from "./model";
import { ask, pause } from "./server";

const pause_ms = 2000;

/** Asked for again while it runs and the page is seen. */
function use_processes(id: number): { found: Processes | null; problem: string } {
  const [found, set] = useState<Processes | null>(null);
  const [problem, set_problem] = useState("");
  useEffect(() => {
    let wanted = true;

    async function look(): Promise<void> {
      while (wanted) {
        if (document.visibilityState === "visible") {
          const now = await ask<Processes>(`/v1/entries/${id}/processes`);
          if (wanted) set(now);
        }
        await pause(pause_ms);
      }
    }

    look().catch((e: Error) => wanted && set_problem(e.message));
    return () => {
      wanted = false;
    };
  }, [id]);
  return { found, problem };
}

/** The processes of an entry that runs, for whoever may read its log. */
export function ProcessList({ entry }: { entry: Entry }) {
  const { found, problem } = use_processes(entry.id);
  const all = found?.processes ?? [];
  const note = problem ? <span class="problem">{problem}</span> : found ? `on ${found.machine ?? "the server's machine"}` : "";
  return (
    <Panel title="Processes" note={note} wide>
      {all.length === 0 ? <Empty>None is known of yet.</Empty> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Its processes">
          <table class="lines" data-test="processes">
            <thead><tr><th scope="col" class="n">process</th><th scope="col" class="n">parent</th><th scope="col" class="n">processor time</th><th scope="col" class="n">memory</th><th scope="col">command</th></tr></thead>
            <tbody>
              {all.map((p) => (
                <tr key={p.pid}>
                  <th scope="row" class="n">{p.pid}</th><td class="n">{p.parent}</td>
                  <td class="n">{duration(p.cpu_seconds)}</td><td class="n">{bytes(p.resident_bytes)}</td><td><code>{p.command}</code></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
