import { count, duration } from "./format";
import { first_in, type Moment } from "./moment";
import type { Picture } from "./model";

/** The trainings at the end of a run, in the terminal's words: "6 of 15 trainings", and what is left at the pace of those that ended. */
export function final_phase(p: Picture, moment: Moment): { done: string; rest: string } {
  const trainings = `of ${count(p.final_trainings)} trainings`;
  if (p.state === "finished") return { done: count(p.final_evaluated), rest: trainings };
  if (p.final_evaluated >= p.final_trainings) return { done: "putting the model together", rest: "" };
  if (p.final_evaluated === 0 || p.showing !== "live" || p.state !== "running") return { done: count(p.final_evaluated), rest: trainings };
  const first = moment.rows[first_in(moment.rows.length, (i) => moment.rows[i]!.generation >= p.final_generation)];
  if (!first) return { done: count(p.final_evaluated), rest: trainings }; // Its rows are still on their way.
  const passed = (moment.time - first.born) / 1000;
  const left = (passed * (p.final_trainings - p.final_evaluated)) / p.final_evaluated;
  return { done: count(p.final_evaluated), rest: `${trainings}, ${duration(left)} left` };
}
