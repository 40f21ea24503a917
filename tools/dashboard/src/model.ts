// These are the objects that the server sends (engine/telemetry/feeds/json.hpp, engine/report/text/json.hpp).

export type Settings = Record<string, number | string>;
export type Metrics = Record<string, number>;

export interface Line {
  id: number;
  generation: number;
  origin: string;
  born: number;
  evaluated: number | null;
  outcome: string | null;
  fitness: number | null;
  parameters: number | null;
  seconds: number | null;
  slot: string | null;
  reason: string | null;
}

export interface GenerationLine {
  generation: number;
  best: number | null;
  best_fitness: number | null;
  median: number | null;
  lower_quartile: number | null;
  upper_quartile: number | null;
  succeeded: number;
  failed: number;
  born: number;
  closed: number;
  /** The sequence of the record that closed it. */
  closed_sequence: number;
  /** With several objectives: the size of the front of all generations so far, and its hypervolume. */
  front: number | null;
  hypervolume: number | null;
}

export interface Stay {
  slot: string;
  joined: number;
  left: number | null;
  reason: string | null;
}

export interface Attempt {
  id: number;
  attempt: number;
  slot: string;
  reason: string;
}

/** The results of the test beside a network's metrics; null where one does not apply. */
export interface TestDetails {
  examples: { train: number; validation: number; test: number };
  metrics: Metrics;
  classes: string[] | null;
  /** How many test examples of the row's class were taken for the column's. */
  confusion: number[][] | null;
  /** Actual and predicted values of some test examples. */
  pairs: [number, number][] | null;
  /** How right a classifier is where it is so sure; none of an older clade. */
  reliability?: { error: number; bins: { examples: number; said: number; right: number }[] } | null;
  /** By how much the model is worse without what a column tells, the most important first. */
  columns?: { metric: string; examples: number; times: number; columns: ColumnImportance[] } | null;
  forecasts?: Forecast[] | null;
}

/** A forecast of the test part beside what came; null is a gap. */
export interface Forecast {
  series: string[];
  from: string;
  origin: string;
  to: string;
  past: (number | null)[];
  /** The ends of the 90 % interval, where enough errors are known. */
  steps: { ahead: number; actual: number; predicted: number; low?: number; high?: number }[];
}

export interface ColumnImportance {
  column: string;
  worse: number;
  low: number;
  high: number;
}

export interface Examination {
  subject: string;
  id: number | null;
  metrics: Metrics;
  parameters: number;
  /** None of a run that an older clade made. */
  details?: TestDetails | null;
}

/** A single model that another was put together from, on validation data; `id` is of a candidate. */
export interface RankedModel {
  subject: string;
  id?: number | null;
  metrics: Metrics;
  parameters: number;
  share: number;
}

/** The final model, or what was put together last while there is none. */
export interface Composed {
  interim: boolean;
  metrics: Metrics;
  left_out: string[];
  models: RankedModel[] | null;
}

export interface Finish {
  champion: number | null;
  examinations: Examination[];
}

export interface Aim {
  metric: string;
  maximize: boolean;
}

export interface Constraint {
  metric: string;
  at_most?: number;
  at_least?: number;
}

/** The first aim is `metric` of the picture. */
export interface Objective {
  aims: Aim[];
  constraints: Constraint[];
}

/** Holds what people wrote on a candidate, or on the run, whose id is 0. */
export interface Annotation {
  id: number;
  note: string | null;
  who: string | null;
  /** When the note was. */
  written: number | null;
  tags: string[];
}

export interface Picture {
  event: "picture";
  showing: string;
  name: string;
  sequence: number;
  time: number | null;
  state: string;
  reason: string | null;
  version: string;
  seed: string;
  metric: string;
  maximize: boolean;
  objective: Objective;
  /** The hyperparameter that names candidates, which are no networks (clade jobs). */
  named_by: string | null;
  population: number;
  planned_generations: number;
  started: number | null;
  generation: number;
  /** The trainings at the end of the run: planned, and evaluated; the generation they are in, 0 before the first. */
  final_trainings: number;
  final_evaluated: number;
  final_generation: number;
  born: number;
  evaluated: number;
  failed: number;
  training_seconds: number;
  outcomes: Record<string, number>;
  digest: string;
  experiment: string;
  generations: GenerationLine[];
  best: Line[];
  front: Line[];
  latest: Line[];
  open: Line[];
  attempts: Attempt[];
  slots: Stay[];
  finished: Finish | null;
  composed: Composed | null;
  annotations: Annotation[];
}

/** The share of a slot in a training that several do together. */
export interface TeamShare {
  member: number;
  members: number;
  steps_per_second: number;
  bytes_per_second: number;
  waits: number;
  /** The others wait for it. */
  awaited: boolean;
}

export interface SlotNow {
  slot: string;
  label: string;
  ready: boolean;
  away: boolean;
  training: number | null;
  epoch: number;
  epochs: number;
  seconds: number;
  team: TeamShare | null;
}

interface Recorded {
  sequence: number;
  time: number;
}

export interface EpochNews {
  event: "epoch";
  slot: string;
  id: number;
  epoch: number;
  epochs: number;
  metrics: Metrics;
}

export interface BornNews extends Recorded {
  event: "born";
  id: number;
  generation: number;
  index: number;
  parents: number[];
  origin: string;
  equal_to: number | null;
  nodes: number;
  operators: Record<string, number>;
  hyperparameters: Settings;
}

export interface EvaluatedNews extends Recorded {
  event: "evaluated";
  id: number;
  outcome: string;
  fitness: number | null;
  metrics: Metrics;
  parameters: number;
  seconds: number;
  slot: string | null;
  tries: number;
  equal_to: number | null;
  reason: string | null;
}

export type News =
  | Picture
  | BornNews
  | EvaluatedNews
  | EpochNews
  | (Recorded & { event: "started"; name: string | null; version: string; seed: string; experiment: string })
  | (Recorded & { event: "generation"; survivors: number[] } & GenerationLine)
  | (Recorded & { event: "final_planned"; trainings: { source: number; epochs: number }[] })
  | (Recorded & { event: "model_composed" } & Composed)
  | (Recorded & { event: "interim_composed" } & Composed)
  | (Recorded & { event: "finished" } & Finish)
  | (Recorded & { event: "paused"; reason: string })
  | (Recorded & { event: "resumed"; version: string })
  | (Recorded & { event: "attempt" } & Attempt)
  | (Recorded & { event: "slot"; slot: string; joined: boolean; reason: string | null })
  | (Recorded & { event: "ordered"; order: string; number: number; who: string })
  | (Recorded & { event: "annotated" } & Annotation)
  | { event: "slots"; waiting: number; slots: SlotNow[] }
  | { event: "restarted" };

/** A candidate as tables and charts of many show it. */
export interface Row {
  id: number;
  generation: number;
  index: number;
  parents: number[];
  origin: string;
  equal_to: number | null;
  nodes: number;
  /** How many layers of each operator there are. */
  operators: Record<string, number>;
  outcome: string | null;
  fitness: number | null;
  parameters: number | null;
  seconds: number | null;
  slot: string | null;
  reason: string | null;
  born: number;
  evaluated: number | null;
  born_sequence: number;
  evaluated_sequence: number | null;
  hyperparameters: Settings;
  metrics: Metrics;
  tags?: string[];
  note?: string | null;
  /** The text in which words are looked for; made when it is first needed. */
  text?: string;
}

export interface Rows {
  columns: (keyof Row)[];
  rows: unknown[][];
}

export interface NodeGene {
  id: string;
  op: string;
  settings: Settings;
}

export interface EdgeGene {
  id: string;
  from: string;
  to: string;
  enabled: boolean;
  recurrent: boolean;
  weight: number;
}

export interface Genome {
  nodes: NodeGene[];
  edges: EdgeGene[];
  hyperparameters: Settings;
}

/** The shape of each node's value and what the node costs, by its gene. */
export type Costs = Record<string, { shape: number[]; parameters: number; multiply_adds: number }>;

export interface Epoch {
  number: number;
  metrics: Metrics;
  seconds: number;
}

export interface Candidate {
  id: number;
  generation: number;
  index: number;
  origin: string;
  parents: number[];
  equal_to: number | null;
  network: string;
  work: number;
  has_weights: boolean;
  genome: Genome;
  evaluation: {
    outcome: string;
    metrics: Metrics;
    parameters: number;
    weights_hash: string;
    equal_to: number | null;
    reason: string | null;
    curve: Epoch[];
    seconds: number;
    slot: string | null;
    tries: number;
  } | null;
}
