import { useState } from "preact/hooks";
import { Panel } from "../parts";
import type { Queue } from "./queue";
import { keep_token } from "./server";

/** Asks who looks. */
export function TokenForm({ queue }: { queue: Queue }) {
  const [token, set] = useState("");
  return (
    <main class="waiting" tabIndex={-1}>
      <Panel title="A queue of Clade">
        <form class="query" data-test="token" onSubmit={(e) => {
          e.preventDefault();
          if (!token.trim()) return;
          keep_token(token.trim());
          void queue.follow();
        }}>
          <label for="token">Your token</label>
          <input id="token" type="password" size={36} value={token} autocomplete="off" spellcheck={false} aria-describedby="token-says"
            onInput={(e) => set(e.currentTarget.value)} />
          <button type="submit">Look</button>
        </form>
        <p id="token-says" class={queue.refusal ? "problem" : "hint shown"} role="status">
          {queue.refusal || <>It is in the file <code>token</code> of the folder that you were given. <code>clade top --web</code> prints an address that has it.</>}
        </p>
      </Panel>
    </main>
  );
}
