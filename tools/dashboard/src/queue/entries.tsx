import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { count, date_time } from "../format";
import { Panel } from "../parts";
import { go, type Place, set_option } from "../place";
import { type Column, VirtualTable } from "../virtual_table";
import { EntryLink, StateMark } from "./entry_parts";
import { type Entry, find_entries, sort_entries, states, title_of } from "./model";
import type { Queue } from "./queue";

function columns_of(place: Place): Column<Entry>[] {
  return [
    { name: "id", title: "entry", width: 84, numeric: true, cell: (e) => <EntryLink id={e.id} place={place} /> },
    { name: "state", title: "state", width: 112, cell: (e) => <StateMark entry={e} /> },
    { name: "user", title: "user", width: 96, cell: (e) => e.user },
    { name: "name", title: "name", width: 200, cell: (e) => <span title={title_of(e)}>{title_of(e)}</span> },
    { name: "reason", title: "why", width: 200, cell: (e) => <span title={e.reason ?? ""}>{e.reason ?? ""}</span> },
    { name: "kind", title: "kind", width: 88, cell: (e) => e.kind },
    { name: "priority", title: "priority", width: 84, numeric: true, cell: (e) => e.priority ?? 0 },
    { name: "slots", title: "slots", width: 66, numeric: true, cell: (e) => e.slots },
    { name: "submitted", title: "submitted", width: 164, cell: (e) => date_time(e.submitted) },
    { name: "started", title: "started", width: 164, cell: (e) => date_time(e.started) },
    { name: "ended", title: "ended", width: 164, cell: (e) => date_time(e.ended) },
  ];
}

function Filters({ queue, place }: { queue: Queue; place: Place }) {
  const field = useRef<HTMLInputElement>(null);
  const user = place.options["user"] ?? "";
  const users = useMemo(
    () => [...new Set([...queue.entries.map((e) => e.user), ...queue.machine.users.map((u) => u.user), ...(user ? [user] : [])])].sort(),
    [queue.version, user],
  );
  useLayoutEffect(() => {
    const slash = (e: KeyboardEvent) => {
      if (e.key !== "/" || e.ctrlKey || e.metaKey || (e.target as Element).closest("input, select, textarea")) return;
      e.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", slash);
    return () => removeEventListener("keydown", slash);
  }, []);
  return (
    <div class="query">
      <label for="query">Find</label>
      <input id="query" ref={field} type="search" value={place.query} autocomplete="off" spellcheck={false} placeholder="a name, a command, #12"
        onInput={(e) => go(place, { query: e.currentTarget.value }, true)} />
      <label>State{" "}
        <select value={place.options["state"] ?? ""} data-test="state" onChange={(e) => set_option(place, "state", e.currentTarget.value)}>
          <option value="">not over</option>
          <option value="all">all</option>
          {states.map((s) => <option key={s} value={s}>{s}</option>)}
        </select>
      </label>
      <label>User{" "}
        <select value={user} data-test="user" onChange={(e) => set_option(place, "user", e.currentTarget.value)}>
          <option value="">all</option>
          {users.map((u) => <option key={u} value={u}>{u}</option>)}
        </select>
      </label>
    </div>
  );
}

/** All entries in some state; what is looked for is in the address. */
export function Entries({ queue, place }: { queue: Queue; place: Place }) {
  const state = place.options["state"] ?? "";
  useEffect(() => queue.look_at(state), [state]);
  const user = place.options["user"] ?? "";
  const found = useMemo(() => find_entries(queue.entries, user, place.query), [queue.version, user, place.query]);
  const rows = useMemo(() => sort_entries(found, place.sort), [found, place.sort]);
  const columns = useMemo(() => columns_of(place), [place]);
  const note = queue.complete ? `${count(rows.length)} of ${count(queue.entries.length)}` : "loading";
  return (
    <Panel title="Entries" class="fill" wide note={<span role="status" data-test="found">{note}</span>}>
      <Filters queue={queue} place={place} />
      <VirtualTable label="Entries" columns={columns} rows={rows} id_of={(e) => e.id} sort={place.sort}
        sort_by={(sort) => go(place, { sort }, true)} open={(e) => go(place, { view: "entry", ids: [e.id] })} />
      <p class="hint"><kbd>/</kbd> finds, <kbd>↑</kbd> <kbd>↓</kbd> <kbd>PgDn</kbd> <kbd>End</kbd> move, <kbd>Enter</kbd> opens.</p>
    </Panel>
  );
}
