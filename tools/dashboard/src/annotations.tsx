import { useEffect, useState } from "preact/hooks";
import { date_time } from "./format";
import { CandidateLink, Empty, Panel } from "./parts";
import { address_of, type Place } from "./place";
import type { Run } from "./run";
import { give_order, type Session } from "./session";

// Notes and tags on candidates and on the run. Whoever may give orders may write them: they are recorded in the same way,
// with who wrote them, and come back as news for all who look.

/** A link to the candidates that have the tag. */
function Tag({ name, place }: { name: string; place: Place }) {
  return <a class="tag" href={address_of(place, { view: "candidates", query: `tag:${name}` })}>{name}</a>;
}

/** The note and the tags of a candidate, or of the run (id 0), with fields to change them. */
export function Annotations({ run, id, place, session }: { run: Run; id: number; place: Place; session: Session | null }) {
  const known = run.annotations.get(id);
  const [refusal, set_refusal] = useState("");
  const give = (order: string, text: string) =>
    give_order({ order, number: id, text }).then(() => set_refusal(""), (e: Error) => set_refusal(e.message));
  const what = id === 0 ? "the run" : `#${id}`;
  return (
    <Panel title="Notes and tags" note={known?.note ? `${known.who ?? ""}, ${date_time(known.written)}` : undefined}>
      <ul class="tags" data-test="tags">
        {known?.tags.map((t) => (
          <li key={t} class="chip">
            <Tag name={t} place={place} />
            {session?.notes && <button type="button" class="quiet" aria-label={`Take the tag ${t} from ${what}`} onClick={() => give("untag", t)}>×</button>}
          </li>
        ))}
      </ul>
      {known?.note && <p class="note-text" data-test="note">{known.note}</p>}
      {session?.notes ? <Fields what={what} tags={known?.tags ?? []} note={known?.note ?? ""} give={give} /> : !known && <Empty>Nobody wrote any.</Empty>}
      <p role="status" class="problem" data-test="note-refusal">{refusal}</p>
    </Panel>
  );
}

function Fields({ what, tags, note, give }: { what: string; tags: string[]; note: string; give: (order: string, text: string) => void }) {
  const [tag, set_tag] = useState("");
  const [draft, set_draft] = useState(note);
  // The draft takes over what others write.
  useEffect(() => set_draft(note), [note]);
  return (
    <div class="annotate">
      <form onSubmit={(e) => {
        e.preventDefault();
        give("tag", tag.trim());
        set_tag("");
      }}>
        <input type="text" size={12} maxLength={40} value={tag} aria-label={`A tag for ${what}`} placeholder="tag" onInput={(e) => set_tag(e.currentTarget.value)} />
        <button type="submit" disabled={!tag.trim() || tags.includes(tag.trim())}>Add tag</button>
      </form>
      <form onSubmit={(e) => {
        e.preventDefault();
        give("note", draft);
      }}>
        <textarea rows={2} maxLength={2000} value={draft} aria-label={`Note on ${what}`} placeholder="note" onInput={(e) => set_draft(e.currentTarget.value)} />
        <button type="submit" disabled={draft === note}>Save note</button>
      </form>
    </div>
  );
}

const most_listed = 50;

/** Lists the candidates that have notes or tags. */
export function Annotated({ run, place }: { run: Run; place: Place }) {
  const all = [...run.annotations.values()].filter((a) => a.id !== 0).sort((a, b) => a.id - b.id);
  if (!all.length) return null;
  return (
    <Panel title="Candidates with notes or tags" class="two" note={all.length > most_listed ? `${most_listed} of ${all.length}` : undefined}>
      <div class="scroll" tabIndex={0} role="group" aria-label="Candidates with notes or tags">
        <table class="lines" data-test="annotated">
          <thead><tr><th scope="col">id</th><th scope="col">tags</th><th scope="col">note</th></tr></thead>
          <tbody>
            {all.slice(0, most_listed).map((a) => (
              <tr key={a.id}>
                <td><CandidateLink id={a.id} place={place} /></td>
                <td><ul class="tags">{a.tags.map((t) => <li key={t}><Tag name={t} place={place} /></li>)}</ul></td>
                <td class="wrap">{a.note ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
