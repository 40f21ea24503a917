import { count, counted, duration } from "../format";
import { Empty, Panel } from "../parts";
import { address_of, type Place } from "../place";
import { EntryLink } from "./entry_parts";
import type { Queue } from "./queue";

export function MachineView({ queue, place }: { queue: Queue; place: Place }) {
  const { slots, users } = queue.machine;
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
    </div>
  );
}
