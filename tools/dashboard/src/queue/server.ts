// The questions to the queue's server. The token comes by the address, #token=..., or is typed in; it is kept
// for as long as the tab is open, and goes along with every question.

const kept_as = "clade-token";

export class Refused extends Error {}

/** Takes the token out of the address, where it is seen and copied. */
export function take_token_of_address(): void {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (!found) return;
  keep_token(found[1]!);
  history.replaceState(null, "", location.pathname);
}

export function keep_token(token: string): void {
  sessionStorage.setItem(kept_as, token);
}

export function forget_token(): void {
  sessionStorage.removeItem(kept_as);
}

export function has_token(): boolean {
  return sessionStorage.getItem(kept_as) !== null;
}

/** `Refused`: the token is nobody's (any more). */
export async function fetch_answer(path: string, how: RequestInit = {}): Promise<Response> {
  const answer = await fetch(path, {
    cache: "no-store",
    credentials: "omit",
    ...how,
    headers: { Authorization: `Bearer ${sessionStorage.getItem(kept_as) ?? ""}` },
  });
  if (answer.ok) return answer;
  const said = (await answer.json().catch(() => ({}))) as { error?: string };
  const message = said.error ?? `the server answered ${answer.status}`;
  throw answer.status === 401 ? new Refused(message) : new Error(message);
}

export async function ask<T>(path: string, how: RequestInit = {}): Promise<T> {
  return (await (await fetch_answer(path, how)).json()) as T;
}

export async function cancel_entry(id: number): Promise<void> {
  await fetch_answer(`/v1/entries/${id}`, { method: "DELETE" });
}

/** Bytes of a log from there on, or the last ones. */
export async function fetch_log(id: number, from: { offset: number } | { tail: number }, stop: AbortSignal): Promise<{ offset: number; bytes: Uint8Array }> {
  const [name, value] = Object.entries(from)[0] as [string, number];
  const answer = await fetch_answer(`/v1/entries/${id}/log?${name}=${value}`, { signal: stop });
  return { offset: Number(answer.headers.get("Log-Offset")), bytes: new Uint8Array(await answer.arrayBuffer()) };
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
