import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Row } from "./model";
import { is_evaluated } from "./moment";
import { address_of, type Place } from "./place";

interface PanelParams {
  title: string;
  /** Beside the title. */
  note?: ComponentChildren;
  wide?: boolean;
  class?: string;
  children: ComponentChildren;
}

/** A part of a view, with a heading. */
export function Panel({ title, note, wide, children, class: name }: PanelParams) {
  return (
    <section class={`panel ${wide ? "wide" : ""} ${name ?? ""}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note !== undefined && <div class="note">{note}</div>}
      </header>
      {children}
    </section>
  );
}

export function CandidateLink({ id, place }: { id: number; place: Place }) {
  return <a class="id" href={address_of(place, { view: "candidate", ids: [id] })}>#{id}</a>;
}

/** The outcome of a candidate, by its shape, its colour and a word. */
export function Outcome({ row, cut }: { row: Row; cut: number }) {
  const outcome = is_evaluated(row, cut) ? (row.outcome ?? "open") : "open";
  const kind = outcome === "succeeded" ? "good" : outcome === "open" ? "open" : "bad";
  return <span class={`mark ${kind}`}>{outcome.replaceAll("_", " ")}</span>;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}

/** An order that cannot be taken back is asked for twice. */
export function Twice({ label, disabled, act }: { label: string; disabled: boolean; act: () => void }) {
  const [sure, set_sure] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <button type="button" class={sure ? "sure" : ""} disabled={disabled} onBlur={() => set_sure(false)} onClick={() => {
      if (sure) act();
      set_sure(!sure);
    }}>{sure ? `Yes, ${label.toLowerCase()}` : label}</button>
  );
}
