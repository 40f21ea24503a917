import type { Candidate, Costs, Epoch, Metrics, News, Rows } from "./model";
import { prepare } from "./query";
import type { Run } from "./run";

// The page is told everything and asks for nothing twice: the stream of events begins with the picture, so that nothing
// is missed between the two. Rows of candidates that were there before are fetched beside it, page by page.

const page_rows = 5000;

export async function ask<T>(path: string, how: RequestInit = {}): Promise<T> {
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...how });
  const body = (await answer.json()) as T & { error?: string };
  if (!answer.ok) throw new Error(body.error ?? `the server answered ${answer.status}`);
  return body;
}

export function send<T>(path: string, body: unknown): Promise<T> {
  return ask<T>(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** A file that the server makes, with the name that it gives it. */
export async function fetch_file(path: string): Promise<{ name: string; content: ArrayBuffer }> {
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store" });
  if (!answer.ok) throw new Error(((await answer.json()) as { error?: string }).error ?? `the server answered ${answer.status}`);
  const named = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "");
  return { name: named?.[1] ?? "model", content: await answer.arrayBuffer() };
}

/** At most 50. */
export async function fetch_curves(ids: number[]): Promise<{ id: number; metrics: Metrics; curve: Epoch[] }[]> {
  return (await ask<{ curves: { id: number; metrics: Metrics; curve: Epoch[] }[] }>(`/api/curves?ids=${ids.join()}`)).curves;
}

/** If the run's data are not at hand, it is an error that says so. */
export async function fetch_costs(id: number): Promise<Costs> {
  return (await ask<{ nodes: Costs }>(`/api/candidate/${id}/costs`)).nodes;
}

export function fetch_candidate(id: number): Promise<Candidate> {
  return ask<Candidate>(`/api/candidate/${id}`);
}

/** Follows the run for as long as somebody looks: a browser has six connections to one server, of all its tabs. */
export function follow(run: Run): void {
  let events: EventSource | null = null;
  let fetching = 0;

  async function fetch_rows(): Promise<void> {
    const mine = ++fetching;
    let after = run.settled();
    while (mine === fetching) {
      const page = await ask<Rows>(`/api/candidates?after=${after}&count=${page_rows}`);
      if (mine !== fetching) return;
      run.take_rows(page);
      const last = page.rows.at(-1)?.[page.columns.indexOf("id")];
      if (page.rows.length < page_rows || typeof last !== "number") break;
      after = last;
    }
    if (mine !== fetching) return;
    run.complete = true;
    prepare(run.rows);
    run.changed();
  }

  function open(): void {
    if (events) return;
    events = new EventSource("/api/events");
    events.onopen = () => {
      run.connected = true;
      run.changed();
    };
    events.onerror = () => {
      run.connected = false;
      run.changed();
    };
    events.onmessage = (message: MessageEvent<string>) => {
      const news = JSON.parse(message.data) as News;
      run.take(news);
      // When it fails the stream has failed as well, and the picture comes again.
      if (news.event === "picture") fetch_rows().catch(() => undefined);
    };
  }

  function close(): void {
    events?.close();
    events = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}
