// The answers of a queue's server (tools/queue/server/openapi.json). Lists leave out what has no value.

export type State = "waiting" | "held" | "running" | "preempted" | "succeeded" | "failed" | "cancelled";

/** In the order in which they are offered. */
export const states: State[] = ["running", "waiting", "preempted", "held", "succeeded", "failed", "cancelled"];

export interface Entry {
  id: number;
  user: string;
  name?: string | null;
  kind: string;
  state: State;
  reason?: string | null;
  stopping?: boolean;
  priority?: number;
  slots: number;
  device?: string | null;
  seconds?: number;
  after?: number[];
  requeue?: boolean;
  on?: string[];
  submitted: number;
  started?: number | null;
  ended?: number | null;
  starts?: number;
  losses?: number;
  /** Only for those who may read its log and cancel it. */
  command?: string[] | null;
  directory?: string | null;
  folder?: string;
  run?: string | null;
}

/** The processes of an entry that runs. */
export interface Processes {
  /** null: the server's own. */
  machine: string | null;
  processes: { pid: number; parent: number; cpu_seconds: number; resident_bytes: number; command: string }[];
}

export interface Slot {
  slot: string;
  device: string;
  entry: number | null;
  user: string | null;
}

export interface Use {
  user: string;
  running: number;
  waiting: number;
  slots: number;
  /** 0: none. */
  quota: number;
  /** Seconds of slots of late. */
  used: number;
}

/** A machine beside the server's own. */
export interface Node {
  machine: string;
  state: "there" | "awaited" | "leaves" | "lost";
  slots: number;
  version: string | null;
  heard_ms: number;
  clock_ahead_ms: number;
}

export interface Machine {
  slots: Slot[];
  users: Use[];
  machines: Node[];
}

export interface Whoami {
  user: string;
  role: "viewer" | "user" | "admin";
}

export function is_over(e: Entry): boolean {
  return e.state === "succeeded" || e.state === "failed" || e.state === "cancelled";
}

/** Whoever sees the command may cancel. */
export function may_cancel(e: Entry): boolean {
  return !is_over(e) && !e.stopping && Boolean(e.command);
}

export function command_of(e: Entry): string {
  return e.command ? [...(e.kind === "command" ? [] : [e.kind]), ...e.command].join(" ") : "";
}

/** Returns the name that people use. */
export function title_of(e: Entry): string {
  return e.name || command_of(e) || e.kind;
}

/** Returns the entries of this user, or of all, that have each of the words somewhere. */
export function find_entries(entries: Entry[], user: string, words: string): Entry[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!user && !wanted.length) return entries;
  return entries.filter((e) => {
    if (user && e.user !== user) return false;
    if (!wanted.length) return true;
    const text = `#${e.id} ${e.user} ${e.state} ${e.kind} ${e.name ?? ""} ${command_of(e)} ${e.reason ?? ""} ${e.on?.join(" ") ?? ""}`.toLowerCase();
    return wanted.every((w) => text.includes(w));
  });
}

const sort_keys: Record<string, (e: Entry) => number | string> = {
  id: (e) => e.id,
  state: (e) => states.indexOf(e.state),
  user: (e) => e.user,
  name: (e) => title_of(e).toLowerCase(),
  kind: (e) => e.kind,
  priority: (e) => e.priority ?? 0,
  slots: (e) => e.slots,
  submitted: (e) => e.submitted,
  started: (e) => e.started ?? 0,
  ended: (e) => e.ended ?? 0,
  reason: (e) => e.reason ?? "",
};

/** "-id": by id, falling. Among equal ones, the older comes first. */
export function sort_entries(entries: Entry[], sort: string): Entry[] {
  const falling = sort.startsWith("-");
  const key = sort_keys[falling ? sort.slice(1) : sort];
  if (!key) return entries;
  const sign = falling ? -1 : 1;
  const keyed = entries.map((entry) => ({ entry, key: key(entry) }));
  keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.entry.id - b.entry.id));
  return keyed.map((k) => k.entry);
}

/** A log as a terminal would have left it: without colours, and without lines that were written over. */
export function readable_log(text: string): string {
  return text.replaceAll(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, "").replaceAll("\r\n", "\n").replaceAll(/[^\n]*\r(?=.)/g, "");
}
