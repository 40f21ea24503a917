import { address_of, type Place } from "../place";
import type { Entry } from "./model";

export function EntryLink({ id, place }: { id: number; place: Place }) {
  return <a class="id" href={address_of(place, { view: "entry", ids: [id] })}>#{id}</a>;
}

/** The state of an entry, by its shape, its colour and a word. */
export function StateMark({ entry }: { entry: Entry }) {
  const { state } = entry;
  const kind = state === "failed" || state === "held" ? "bad" : state === "running" || state === "succeeded" ? "good" : "open";
  return <span class={`mark ${kind}`}>{entry.stopping ? "stopping" : state}</span>;
}
