import { clock, counted, duration } from "./format";
import type { SlotNow, Stay, TeamShare } from "./model";
import type { Moment } from "./moment";
import { is_jobs, Named } from "./named";
import { Empty, Panel } from "./parts";
import type { Place } from "./place";
import type { Run } from "./run";

export interface Health {
  slot: string;
  state: "training" | "idle" | "starting" | "away" | "gone" | "left" | "there";
  says: string;
  now: SlotNow | null;
  /** How often its process was lost. */
  lost: number;
  last_loss: Stay | null;
}

/** Ends that somebody meant. */
function is_meant(stay: Stay): boolean {
  return stay.left === null || /drained|was resumed|run (is|has) (finished|ended|over)/.test(stay.reason ?? "");
}

function state_of(now: SlotNow): [Health["state"], string] {
  if (now.away) return ["away", "not connected"];
  if (!now.ready) return ["starting", "starting"];
  return now.training === null ? ["idle", "idle"] : ["training", "training"];
}

/** Every slot that there was by then, with what became of it. */
export function health_of(run: Run, moment: Moment): Health[] {
  const live = moment.generation === null && run.picture!.showing === "live";
  const stays = run.picture!.slots.filter((s) => moment.generation === null || s.joined <= moment.time);
  const names = new Set([...stays.map((s) => s.slot), ...(live ? run.slots.map((s) => s.slot) : [])]);
  return [...names].toSorted().map((slot) => {
    const own = stays.filter((s) => s.slot === slot);
    const gone = own.filter((s) => s.left !== null && (moment.generation === null || s.left <= moment.time));
    const losses = gone.filter((s) => !is_meant(s));
    const last = own.at(-1) ?? null;
    const left = last !== null && gone.includes(last);
    const now = live && !left ? (run.slots.find((s) => s.slot === slot) ?? null) : null;
    const found: Health = { slot, state: "there", says: "at work", now, lost: losses.length, last_loss: losses.at(-1) ?? null };
    if (now) [found.state, found.says] = state_of(now);
    else if (left && is_meant(last)) Object.assign(found, { state: "left", says: last.reason ?? "left" });
    else if (left) Object.assign(found, { state: "gone", says: `gone: ${last.reason ?? "lost"}` });
    else if (moment.generation === null && (run.picture!.showing === "finished" || run.picture!.showing === "stopped")) found.says = "there until the end";
    return found;
  });
}

function TeamShareText({ team }: { team: TeamShare }) {
  return (
    <span class="team" data-test="team">
      {team.member} of {team.members}, {team.steps_per_second.toFixed(1)} steps/s, {(team.bytes_per_second / 1e6).toFixed(1)} MB/s, waits{" "}
      {Math.round(100 * team.waits)} %{team.awaited && <b>, the others wait for it</b>}
    </span>
  );
}

/** The work of every slot. One that was lost is red until it is back, and has a red count from then on. */
export function HealthPanel({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const slots = health_of(run, moment);
  const waiting = moment.generation === null ? run.waiting : 0;
  return (
    <Panel title="Workers" note={waiting ? `${counted(waiting, is_jobs(run.picture!) ? "job" : "candidate")} wait${waiting === 1 ? "s" : ""}` : counted(slots.length, "slot")}>
      {!slots.length && <Empty>No slot has joined yet.</Empty>}
      <ul class="slots" data-test="slots">
        {slots.map((s) => (
          <li key={s.slot} data-slot={s.slot} data-state={s.state}>
            <span class={`mark ${{ training: "good", idle: "open", starting: "open", away: "bad", gone: "bad", left: "open", there: "good" }[s.state]}`}>
              <b>{s.slot}</b>
            </span>
            <span class="label">{s.now?.label}</span>
            <span class="doing">
              {s.now?.training != null && s.state === "training" ? (
                <>
                  <Named run={run} id={s.now.training} place={place} /> {s.now.epochs > 0 && (
                    <>
                      <progress max={s.now.epochs} value={s.now.epoch} aria-label={`epochs of ${s.slot}`} /> {s.now.epoch}/{s.now.epochs}
                    </>
                  )} {duration(s.now.seconds)} {s.now.team && <TeamShareText team={s.now.team} />}
                </>
              ) : s.says}
            </span>
            {s.lost > 0 && (
              <span class="lost">lost {s.lost}×, last {clock(s.last_loss?.left)}: {s.last_loss?.reason}</span>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
