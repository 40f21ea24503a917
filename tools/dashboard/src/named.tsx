import type { Picture, Row } from "./model";
import { CandidateLink } from "./parts";
import type { Place } from "./place";
import type { Run } from "./run";

/** A run of scripts (clade jobs): its candidates are jobs, which have names and no fitness. */
export function is_jobs(p: Picture): boolean {
  return p.named_by !== null;
}

/** The name of a job. */
export function name_of(row: Row, p: Picture): string {
  return String(row.hyperparameters[p.named_by!]);
}

/** A job by its name, a candidate by its number. */
export function Named({ run, id, place }: { run: Run; id: number; place: Place }) {
  const row = is_jobs(run.picture!) ? run.row(id) : undefined;
  return row === undefined ? <CandidateLink id={id} place={place} /> : <b>{name_of(row, run.picture!)}</b>;
}
