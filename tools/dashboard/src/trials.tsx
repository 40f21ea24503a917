import { useMemo } from "preact/hooks";
import { QueryField, use_found, use_names } from "./candidates";
import { type Field, fields_of } from "./fields";
import type { Moment } from "./moment";
import { is_evaluated } from "./moment";
import { Empty, Panel } from "./parts";
import { type Place, set_option } from "./place";
import type { Run } from "./run";
import { scale_of } from "./scale";
import { Scatter } from "./scatter";

const groups: [Field["group"], string][] = [["candidate", "Candidate"], ["hyperparameter", "Hyperparameters"], ["network", "Network"], ["metric", "Metrics"]];

export function FieldChoice({ label, fields, chosen, choose, none }: {
  label: string;
  fields: Field[];
  chosen: string;
  choose: (name: string) => void;
  /** The choice for none, if none may be chosen. */
  none?: string;
}) {
  return (
    <label>
      {label}
      <select value={chosen} onChange={(e) => choose(e.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {groups.map(([group, title]) => {
          const own = fields.filter((f) => f.group === group);
          return own.length > 0 && <optgroup key={group} label={title}>{own.map((f) => <option key={f.name} value={f.name}>{f.name}</option>)}</optgroup>;
        })}
      </select>
    </label>
  );
}

/** All fields of a run, by a sample of its candidates. */
export function use_fields(run: Run): Field[] {
  const names = use_names(run);
  return useMemo(() => {
    const step = Math.max(1, Math.floor(run.rows.length / 500));
    return fields_of(run.rows.filter((_, i) => i % step === 0), names);
  }, [names]);
}

function Toggle({ label, on, turn, disabled }: { label: string; on: boolean; turn: (on: boolean) => void; disabled: boolean }) {
  return <label><input type="checkbox" checked={on && !disabled} disabled={disabled} onChange={(e) => turn(e.currentTarget.checked)} />{label}</label>;
}

/** All trials: any field against any other, with time and the objective to begin with. */
export function Trials({ run, moment, place }: { run: Run; moment: Moment; place: Place }) {
  const p = run.picture!;
  const fields = use_fields(run);
  const names = use_names(run);
  const { found, problem } = use_found(run, moment, place.query);
  const rows = useMemo(() => found.filter((r) => is_evaluated(r, moment.cut)), [found, moment.cut]);
  const named = (option: string, otherwise: string) => fields.find((f) => f.name === place.options[option]) ?? fields.find((f) => f.name === otherwise);
  const x = named("x", "time");
  const y = named("y", p.metric);
  const color = fields.find((f) => f.name === place.options["color"]) ?? null;
  const spread = useMemo(() => (x ? scale_of(x.name, rows.map((r) => x.of(r, moment.cut)), false) : null), [x, rows]);
  if (!x || !y || !rows.length) return <Panel title="Trials" wide><Empty>Nothing is evaluated yet.</Empty></Panel>;
  const set = (name: string) => (v: string) => set_option(place, name, v);
  const logarithmic = (option: "logx" | "logy", by_itself: boolean) => (place.options[option] ? place.options[option] === "1" : by_itself);
  // If x is an order of time, the best so far is worth a line.
  const in_time = x.name === "time" || x.name === "id" || x.name === "generation";
  const aim = p.objective.aims.find((a) => a.metric === y.name);
  const can_log_x = x.kind === "number" && !spread?.words.length && (spread?.high ?? 0) > 0;
  return (
    <Panel title="Trials" wide note="drag to zoom, double click to see all">
      <QueryField place={place} problem={problem} names={[...names.hyperparameters, ...names.metrics]} />
      <div class="choices">
        <FieldChoice label="Across" fields={fields} chosen={x.name} choose={set("x")} />
        <Toggle label="logarithmic" on={logarithmic("logx", spread?.log === true && x.group !== "candidate")} disabled={!can_log_x} turn={(on) => set("logx")(on ? "1" : "0")} />
        <FieldChoice label="Up" fields={fields.filter((f) => f.kind === "number")} chosen={y.name} choose={set("y")} />
        <Toggle label="logarithmic" on={logarithmic("logy", false)} disabled={false} turn={(on) => set("logy")(on ? "1" : "0")} />
        <FieldChoice label="Color" fields={fields.filter((f) => f.kind !== "time" && f.name !== "id")} chosen={color?.name ?? ""} choose={set("color")} none="one for all" />
      </div>
      <Scatter rows={rows} cut={moment.cut} x={x} y={y} color={color} place={place}
        log_x={can_log_x && logarithmic("logx", spread?.log === true && x.group !== "candidate")} log_y={logarithmic("logy", false)}
        best={in_time && aim ? (aim.maximize ? "highest" : "lowest") : null} />
    </Panel>
  );
}
