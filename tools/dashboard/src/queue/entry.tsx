import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { date_time, duration } from "../format";
import { Empty, Facts, Panel, Twice } from "../parts";
import { address_of, type Place } from "../place";
import { EntryLink, StateMark } from "./entry_parts";
import { Log } from "./log";
import { command_of, type Entry, may_cancel, title_of } from "./model";
import { ProcessList } from "./processes";
import type { Queue } from "./queue";
import { ask, cancel_entry } from "./server";

/** Asked for again with each change of the queue. */
function use_entry(id: number, queue: Queue): { entry: Entry | null; problem: string } {
  const [entry, set] = useState<Entry | null>(null);
  const [problem, set_problem] = useState("");
  useEffect(() => {
    let wanted = true;
    ask<Entry>(`/v1/entries/${id}`).then(
      (e) => {
        if (!wanted) return;
        set(e);
        set_problem("");
      },
      (e: Error) => wanted && set_problem(e.message),
    );
    return () => {
      wanted = false;
    };
  }, [id, queue.version]);
  return { entry, problem };
}

function facts_of(e: Entry, place: Place): [string, ComponentChildren][] {
  const took = e.started ? ((e.ended && e.ended >= e.started ? e.ended : Date.now()) - e.started) / 1000 : null;
  const all: [string, ComponentChildren][] = [
    ["state", <StateMark entry={e} />],
    ["why", e.reason],
    ["user", e.user],
    ["kind", e.kind],
    ["command", e.command ? <code>{command_of(e)}</code> : null],
    ["directory", e.directory ? <code>{e.directory}</code> : null],
    ["priority", e.priority ?? 0],
    ["slots", `${e.slots}${e.device ? ` ${e.device}` : ""}`],
    ["on", e.on?.join(" ")],
    ["may run", e.seconds ? duration(e.seconds) : null],
    ["after", e.after?.length ? e.after.map((a) => <><EntryLink id={a} place={place} /> </>) : null],
    ["submitted", date_time(e.submitted)],
    ["started", e.started ? date_time(e.started) : null],
    ["ended", e.ended ? date_time(e.ended) : null],
    [e.state === "running" ? "has run for" : "ran for", e.state === "running" || e.ended ? duration(took) : null],
    ["starts", (e.starts ?? 0) > 1 ? e.starts : null],
    ["lost with the server", e.losses ? `${e.losses}×` : null],
    ["run", e.run ? <code>{e.run}</code> : null],
    ["folder", e.folder ? <code>{e.folder}</code> : null],
  ];
  return all.filter(([, what]) => what !== null && what !== undefined && what !== "");
}

export function EntryView({ id, queue, place }: { id: number; queue: Queue; place: Place }) {
  const { entry, problem } = use_entry(id, queue);
  const [answer, set_answer] = useState("");
  const cancel = () => {
    cancel_entry(id).then(() => set_answer("It is told to end."), (e: Error) => set_answer(e.message));
  };
  if (!entry) return <Panel title={`Entry #${id}`} wide><Empty>{problem ? `${problem}.` : "It is being read."}</Empty></Panel>;
  return (
    <>
      <div class="title">
        <h2 id="entry-title">#{id} {title_of(entry)}</h2>
        {may_cancel(entry) && <Twice label="Cancel" disabled={false} act={cancel} />}
        <span role="status" class="muted" data-test="cancel-answer">{answer}</span>
        <div class="neighbours"><a href={address_of(place, { view: "overview" })}>All entries</a></div>
      </div>
      <div class="grid">
        <Panel title="Entry"><div data-test="facts"><Facts of={facts_of(entry, place)} /></div></Panel>
        <Log entry={entry} />
        {entry.state === "running" && entry.command && <ProcessList entry={entry} />}
      </div>
    </>
  );
}
