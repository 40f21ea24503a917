import { count, counted, duration } from "../format";
import { Empty, Panel } from "../parts";
import { address_of, type Place } from "../place";
import { EntryLink } from "./entry_parts";
import type { Queue } from "./queue";

const marks = { there: "good", awaited: "open", leaves: "open", lost: "bad" };

export function MachineView({ queue, place }: { queue: Queue; place: Place }) {
  const { slots, users, machines } = queue.machine;
  return (
    <div class="grid">
      <Panel title="Slots" note={counted(slots.length, "slot")} class="half">
        <div class="scroll" tabIndex={0} role="group" aria-label="All slots">
          <table class="lines" data-test="slots">
            <thead><tr><th scope="col">slot</th><th scope="col">device</th><th scope="col">entry</th><th scope="col">user</th></tr></thead>
            <tbody>
              {slots.map((s) => (
                <tr key={s.slot}>
                  <th scope="row">{s.slot}</th><td>{s.device}</td>
                  <td>{s.entry === null ? <span class="mark open">free</span> : <EntryLink id={s.entry} place={place} />}</td><td>{s.user ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
      <Panel title="Users" note="what was used counts half after the half-life" class="half">
        {users.length === 0 ? <Empty>Nobody has anything here.</Empty> : (
          <div class="scroll" tabIndex={0} role="group" aria-label="All users">
            <table class="lines" data-test="users">
              <thead><tr><th scope="col">user</th><th scope="col" class="n">slots</th><th scope="col" class="n">quota</th><th scope="col" class="n">running</th><th scope="col" class="n">waiting</th><th scope="col" class="n">slots × time of late</th></tr></thead>
              <tbody>
                {users.map((u) => (
                  <tr key={u.user}>
                    <th scope="row"><a class="id" href={address_of(place, { view: "overview", options: { user: u.user } })}>{u.user}</a></th>
                    <td class="n">{count(u.slots)}</td><td class="n">{u.quota === 0 ? "–" : count(u.quota)}</td>
                    <td class="n">{count(u.running)}</td><td class="n">{count(u.waiting)}</td><td class="n">{duration(u.used)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {machines.length > 0 && (
        <Panel title="Machines" note={counted(machines.length, "machine")} wide>
          <div class="scroll" tabIndex={0} role="group" aria-label="All machines">
            <table class="lines" data-test="machines">
              <thead><tr><th scope="col">machine</th><th scope="col">state</th><th scope="col" class="n">slots</th><th scope="col">version</th><th scope="col" class="n">heard</th></tr></thead>
              <tbody>
                {machines.map((m) => (
                  <tr key={m.machine}>
                    <th scope="row">{m.machine}</th><td><span class={`mark ${marks[m.state]}`}>{m.state}</span></td>
                    <td class="n">{count(m.slots)}</td><td>{m.version ?? ""}</td><td class="n">{duration(m.heard_ms / 1000)} ago</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Panel>
      )}
    </div>
  );
}
