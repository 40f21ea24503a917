import type { Picture } from "./model";
import { CandidateLink } from "./parts";
import type { Place } from "./place";
import type { Run } from "./run";

/** A run of scripts (clade jobs): its candidates are jobs, which have names and no fitness. */
export function is_jobs(p: Picture): boolean {
  return /^fitness = "jobs"$/m.test(p.experiment);
}

/** A job by its name, a candidate by its number. */
export function Named({ run, id, place }: { run: Run; id: number; place: Place }) {
  const name = is_jobs(run.picture!) ? run.row(id)?.hyperparameters.job : undefined;
  return name === undefined ? <CandidateLink id={id} place={place} /> : <b>{name}</b>;
}
