import type { Entry, Machine, Whoami } from "./model";
import { ask, forget_token, has_token, pause, Refused } from "./server";

/** Between two looks, however much happens. */
const pause_ms = 500;
/** Lists of thousands of entries take their time to be sent and drawn. */
const pause_of_many_ms = 1500;
const many = 2000;
const wait_ms = 15_000;

/** The state of the queue that the server has told so far. */
export class Queue {
  entries: Entry[] = [];
  machine: Machine = { slots: [], users: [], machines: [] };
  me: Whoami | null = null;
  /** The entries are those of the state that is looked at. */
  complete = false;
  connected = false;
  /** Why there is no token any more. */
  refusal = "";
  version = 0;

  private state = "";
  private following = false;
  private asking = new AbortController();
  private readonly listeners = new Set<() => void>();

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Looks at entries in this state; empty: those that are not over; "all". */
  look_at(state: string): void {
    if (state === this.state) return;
    this.state = state;
    this.complete = false;
    this.asking.abort();
  }

  /** Follows the queue for as long as there is a token; a tab that nobody sees asks for nothing. */
  async follow(): Promise<void> {
    if (this.following) return;
    this.following = true;
    const hidden = () => this.asking.abort();
    document.addEventListener("visibilitychange", hidden);
    let seen = "";
    let of = this.state;
    while (has_token()) {
      if (document.hidden) await visible();
      // A server that was started again counts its changes anew.
      if (of !== this.state || !this.complete || !this.connected) seen = "";
      of = this.state;
      this.asking = new AbortController();
      try {
        seen = await this.look(of, seen);
        await pause(this.entries.length > many ? pause_of_many_ms : pause_ms);
      } catch (problem) {
        await this.take_problem(problem as Error);
      }
    }
    document.removeEventListener("visibilitychange", hidden);
    this.following = false;
  }

  private async look(state: string, seen: string): Promise<string> {
    const how = { signal: this.asking.signal };
    this.me ??= await ask<Whoami>("/v1/user", how);
    const options = new URLSearchParams({ ...(state && { state }), ...(seen && { seen, wait: String(wait_ms) }) });
    const answer = await ask<{ change: number; entries: Entry[] }>(`/v1/entries?${options}`, how);
    const machine = await ask<Machine>("/v1/machine", how);
    this.entries = answer.entries;
    this.machine = machine;
    this.complete = true;
    this.connected = true;
    this.refusal = "";
    this.changed();
    return String(answer.change);
  }

  private async take_problem(problem: Error): Promise<void> {
    if (problem.name === "AbortError") return;
    this.connected = false;
    if (problem instanceof Refused) {
      forget_token();
      this.me = null;
      this.refusal = problem.message;
    }
    this.changed();
    await pause(pause_ms);
  }

  private changed(): void {
    ++this.version;
    for (const listener of this.listeners) listener();
  }
}

function visible(): Promise<void> {
  return new Promise((done) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    look();
  });
}
