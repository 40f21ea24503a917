import { useState } from "preact/hooks";
import { Twice } from "./parts";
import type { Run } from "./run";
import { give_order, type Order, type Session } from "./session";

// Orders to a run that is going on, as `clade control` gives them: each is recorded with who gave it.

/** The answer to the last order. */
interface Answer {
  said: string;
  refused: boolean;
}

export function CommandBar({ run, session }: { run: Run; session: Session }) {
  const [answer, set_answer] = useState<Answer | null>(null);
  const [busy, set_busy] = useState(false);
  const held = run.picture!.state === "held";
  const give = (order: Order) => {
    set_busy(true);
    give_order(order).then(
      (said) => set_answer({ said: `${said}: recorded, by ${session.user}`, refused: false }),
      (e: Error) => set_answer({ said: e.message, refused: true }),
    ).finally(() => set_busy(false));
  };
  return (
    <section class="bar" aria-label="Orders" data-test="orders">
      {held
        ? <button type="button" disabled={busy} onClick={() => give({ order: "go-on" })}>Go on</button>
        : <button type="button" disabled={busy} title="Hand out nothing more; what is in training goes on" onClick={() => give({ order: "hold" })}>Hold</button>}
      <Twice label="Stop after this generation" disabled={busy} act={() => give({ order: "stop-after" })} />
      <Twice label="Stop" disabled={busy} act={() => give({ order: "stop" })} />
      <Numbered label="Extend by" unit="generations" first={5} disabled={busy} act={(number) => give({ order: "extend", number })} />
      {session.runs && <AddCandidate disabled={busy} give={give} />}
      <Drop disabled={busy} open={run.picture!.showing === "live" ? run.rows.filter((r) => r.evaluated_sequence === null).map((r) => r.id) : []} give={give} />
      <span role="status" class={answer?.refused ? "problem" : "muted"} data-test="order-answer">{answer?.said ?? ""}</span>
    </section>
  );
}

function Numbered({ label, unit, first, disabled, act }: { label: string; unit: string; first: number; disabled: boolean; act: (n: number) => void }) {
  const [n, set_n] = useState(first);
  return (
    <form onSubmit={(e) => {
      e.preventDefault();
      if (n >= 1) act(n);
    }}>
      <button type="submit" disabled={disabled || !(n >= 1)}>{label}</button>
      <label><input type="number" class="short" min={1} max={1000000} value={n} onInput={(e) => set_n(e.currentTarget.valueAsNumber)} /> {unit}</label>
    </form>
  );
}

function AddCandidate({ disabled, give }: { disabled: boolean; give: (order: Order) => void }) {
  const [id, set_id] = useState("");
  const [from, set_from] = useState("");
  return (
    <form onSubmit={(e) => {
      e.preventDefault();
      if (Number(id) >= 1 && from) give({ order: "add", run: from, id: Number(id) });
    }}>
      <button type="submit" disabled={disabled || !(Number(id) >= 1) || !from}>Add</button>
      <label><span class="sr">Number of the candidate</span><input type="text" inputMode="numeric" size={4} value={id} placeholder="12" onInput={(e) => set_id(e.currentTarget.value)} /></label>
      <label>of run <input type="text" size={14} value={from} placeholder="digits" onInput={(e) => set_from(e.currentTarget.value)} /></label>
    </form>
  );
}

function Drop({ disabled, open, give }: { disabled: boolean; open: number[]; give: (order: Order) => void }) {
  const [id, set_id] = useState("");
  const chosen = open.includes(Number(id)) ? id : String(open[0] ?? "");
  if (!open.length) return null;
  return (
    <form onSubmit={(e) => {
      e.preventDefault();
      give({ order: "drop", number: Number(chosen) });
    }}>
      <button type="submit" disabled={disabled}>Drop</button>
      <label><span class="sr">Candidate that is open</span>
        <select value={chosen} onChange={(e) => set_id(e.currentTarget.value)}>{open.slice(0, 200).map((o) => <option key={o} value={o}>#{o}</option>)}</select>
      </label>
    </form>
  );
}
