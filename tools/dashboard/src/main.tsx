import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AllCurves } from "./all_curves";
import { Analysis } from "./analysis";
import { CandidateView } from "./candidate";
import { Candidates } from "./candidates";
import { Compare } from "./compare";
import { CommandBar } from "./command";
import { follow } from "./connection";
import { final_phase } from "./final_phase";
import { count, duration, metric, readable_toml } from "./format";
import { figures_of_jobs, Jobs } from "./jobs";
import { type Moment, moment_of } from "./moment";
import { is_jobs } from "./named";
import type { Picture } from "./model";
import { Overview } from "./overview";
import { CandidateLink, Panel } from "./parts";
import { address_of, type Place, use_place } from "./place";
import { Run } from "./run";
import { Runs } from "./runs";
import { type Session, use_session } from "./session";
import { Share } from "./share";
import "./style.css";
import { TimeSlider } from "./time_slider";
import { Timeline } from "./timeline";
import { Trials } from "./trials";


const views: [string, string][] = [
  ["overview", "Overview"], ["candidates", "Candidates"], ["trials", "Trials"], ["hyperparameters", "Hyperparameters"], ["curves", "Curves"], ["slots", "Slots"],
  ["compare", "Compare"], ["runs", "Runs"], ["experiment", "Experiment"],
];

/** The views that say something of jobs. */
const views_of_jobs: [string, string][] = [["overview", "Jobs"], ["slots", "Slots"], ["runs", "Runs"], ["experiment", "Experiment"]];

const run = new Run();
// The token has become a cookie; it need not stay where it is seen and copied.
if (location.search) history.replaceState(null, "", location.pathname + location.hash);
follow(run);

function use_run(): number {
  const [version, set] = useState(run.version);
  useEffect(() => {
    set(run.version); // It may have changed since this was first drawn.
    return run.listen(() => set(run.version));
  }, []);
  return version;
}

/** Looks at a large run, where everything takes its time, once a second, and at once when another moment is
    chosen. */
function use_moment(version: number, generation: number | null): Moment | null {
  const last = useRef<{ at: number; version: number; generation: number | null; moment: Moment | null } | null>(null);
  const [, again] = useState(0);
  const wait = run.rows.length > 20_000 ? 1000 : 0;
  const known = last.current;
  const fresh = known && known.generation === generation && known.moment && (known.version === version || performance.now() - known.at < wait);
  if (!fresh) last.current = { at: performance.now(), version, generation, moment: moment_of(run, generation) };
  useEffect(() => {
    if (!wait || last.current?.version === version) return;
    const timer = setTimeout(() => again((n) => n + 1), wait);
    return () => clearTimeout(timer);
  });
  return last.current!.moment;
}

function showing_says(): string {
  const p = run.picture!;
  if (p.showing === "live" && (p.state === "paused" || p.state === "held")) return `live, ${p.state}`;
  return p.showing;
}

function Status() {
  const p = run.picture!;
  const kind = run.connected ? p.showing : "lost";
  const says = run.connected ? showing_says() : "not connected, trying again";
  return <span class={`status ${kind}`} role="status" data-test="showing" title={p.reason ?? undefined}>{says}</span>;
}

function figure_of_final(p: Picture, moment: Moment): [string, preact.ComponentChildren] {
  const { done, rest } = final_phase(p, moment);
  return ["final", <>{done}<small> {rest}</small></>];
}

function Figures({ moment, place }: { moment: Moment; place: Place }) {
  const p = run.picture!;
  const best = moment.best[0];
  const generation = moment.generation ?? p.generation;
  const elapsed = p.started ? (moment.time - p.started) / 1000 : null;
  // The picture knows better what there is now, until all rows are here.
  const whole = moment.generation !== null || moment.complete;
  const figures: [string, preact.ComponentChildren][] = is_jobs(p) ? figures_of_jobs(run, moment) : [
    p.final_trainings > 0 && moment.generation === null
      ? figure_of_final(p, moment)
      : ["generation", <>{generation}<small> of {p.planned_generations}</small></>],
    p.final_trainings > 0
      ? ["evaluated", <>{count(whole ? moment.evaluated : p.evaluated)}</>]
      : ["evaluated", <>{count(whole ? moment.evaluated : p.evaluated)}<small> of {count(p.population * p.planned_generations)}</small></>],
    ["failed", count(whole ? moment.failed : p.failed)],
    [`best ${p.metric.replace(/^validation\./, "")}`, best ? <>{metric(best.fitness)} <small><CandidateLink id={best.id} place={place} /></small></> : "–"],
    ["elapsed", duration(elapsed)],
  ];
  return (
    <dl class="figures" data-test="figures">
      {figures.map(([name, what]) => <div key={name}><dt>{name}</dt><dd>{what}</dd></div>)}
    </dl>
  );
}

function Experiment() {
  const p = run.picture!;
  return (
    <Panel title="Experiment" wide note={`clade ${p.version}, seed ${p.seed}, digest ${p.digest}`}>
      <pre tabIndex={0}>{readable_toml(p.experiment)}</pre>
    </Panel>
  );
}

function View({ moment, place, session }: { moment: Moment; place: Place; session: Session | null }) {
  switch (place.view) {
    case "candidates": return <Candidates run={run} moment={moment} place={place} />;
    case "candidate": return <CandidateView key={place.ids[0]} run={run} moment={moment} place={place} session={session} />;
    case "trials": return <Trials run={run} moment={moment} place={place} />;
    case "hyperparameters": return <Analysis run={run} moment={moment} place={place} />;
    case "curves": return <AllCurves run={run} moment={moment} place={place} />;
    case "slots": return <Timeline run={run} moment={moment} place={place} />;
    case "compare": return <Compare run={run} moment={moment} place={place} />;
    case "runs": return <Runs run={run} place={place} />;
    case "experiment": return <Experiment />;
    default: return is_jobs(run.picture!) ? <Jobs run={run} moment={moment} place={place} session={session} /> : <Overview run={run} moment={moment} place={place} session={session} />;
  }
}

function Page() {
  const version = use_run();
  const place = use_place();
  const moment = use_moment(version, place.generation);
  const main = useRef<HTMLElement>(null);
  const path = `${place.view}/${place.ids.join("/")}`;
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    // Another view is another page to people who use a screen reader.
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);
  const name = run.picture?.name;
  useEffect(() => {
    if (name) document.title = `${name} – Clade`;
  }, [name]);
  const session = use_session(run.picture?.showing);
  const [bar, set_bar] = useState<"" | "orders" | "share">("");
  const view = useMemo(() => (moment ? <View moment={moment} place={place} session={session} /> : null), [moment, place, version, session]);
  if (!run.picture || !moment)
    return <main class="waiting" tabIndex={-1}><p role="status">{run.connected ? "Waiting for the run." : "Connecting to clade."}</p></main>;
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="top">
        <div class="name">
          <h1>{run.picture.name}</h1>
          <Status />
          {session?.orders && <button type="button" class="small" aria-expanded={bar === "orders"} onClick={() => set_bar(bar === "orders" ? "" : "orders")}>Orders</button>}
          {session && <button type="button" class="small" aria-expanded={bar === "share"} onClick={() => set_bar(bar === "share" ? "" : "share")}>Share</button>}
        </div>
        <Figures moment={moment} place={place} />
        {session?.orders && bar === "orders" && <CommandBar run={run} session={session} />}
        {session && bar === "share" && <Share session={session} />}
      </header>
      <nav class="views" aria-label="Views">
        {(is_jobs(run.picture) ? views_of_jobs : views).map(([view, title]) => (
          <a key={view} href={address_of(place, { view })} aria-current={view === place.view || (view === "candidates" && place.view === "candidate") ? "page" : undefined}>{title}</a>
        ))}
      </nav>
      <main id="main" ref={main} tabIndex={-1}>{view}</main>
      {!is_jobs(run.picture) && <TimeSlider run={run} moment={moment} place={place} />}
    </>
  );
}

render(<Page />, document.getElementById("page")!);
