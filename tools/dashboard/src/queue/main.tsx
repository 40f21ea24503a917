import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { address_of, type Place, use_place } from "../place";
import "../style.css";
import { Entries } from "./entries";
import { EntryView } from "./entry";
import { MachineView } from "./machine";
import { Queue } from "./queue";
import { has_token, take_token_of_address } from "./server";
import { TokenForm } from "./token_form";

// The page of a queue: its entries, the machine's slots and the users.

const views: [string, string][] = [["overview", "Entries"], ["machine", "Machine"]];

take_token_of_address();
const queue = new Queue();
if (has_token()) void queue.follow();

function use_queue(): number {
  const [version, set] = useState(queue.version);
  useEffect(() => {
    set(queue.version);
    return queue.listen(() => set(queue.version));
  }, []);
  return version;
}

function Figures() {
  const busy = queue.machine.slots.filter((s) => s.entry !== null).length;
  const sum = (of: "running" | "waiting") => queue.machine.users.reduce((all, u) => all + u[of], 0);
  const figures: [string, preact.ComponentChildren][] = [
    ["running", count(sum("running"))],
    ["waiting", count(sum("waiting"))],
    ["slots in use", <>{count(busy)}<small> of {count(queue.machine.slots.length)}</small></>],
    ["you are", <>{queue.me!.user} <small>{queue.me!.role}</small></>],
  ];
  return (
    <dl class="figures" data-test="figures">
      {figures.map(([name, what]) => <div key={name}><dt>{name}</dt><dd>{what}</dd></div>)}
    </dl>
  );
}

function View({ place }: { place: Place }) {
  switch (place.view) {
    case "entry": return <EntryView key={place.ids[0]} id={place.ids[0] ?? 0} queue={queue} place={place} />;
    case "machine": return <MachineView queue={queue} place={place} />;
    default: return <Entries queue={queue} place={place} />;
  }
}

function Page() {
  use_queue();
  const place = use_place();
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
  if (!has_token()) return <TokenForm queue={queue} />;
  if (!queue.me || queue.version === 0)
    return <main class="waiting" tabIndex={-1}><p role="status">Connecting to the queue.</p></main>;
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="top">
        <div class="name">
          <h1>Queue</h1>
          <span class={`status ${queue.connected ? "live" : "lost"}`} role="status" data-test="showing">{queue.connected ? "live" : "not connected, trying again"}</span>
        </div>
        <Figures />
      </header>
      <nav class="views" aria-label="Views">
        {views.map(([view, title]) => (
          <a key={view} href={address_of(place, { view })} aria-current={view === place.view || (view === "overview" && place.view === "entry") ? "page" : undefined}>{title}</a>
        ))}
      </nav>
      <main id="main" ref={main} tabIndex={-1}><View place={place} /></main>
    </>
  );
}

render(<Page />, document.getElementById("page")!);
