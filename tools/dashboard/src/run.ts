import { first_in } from "./moment";
import type { Annotation, EpochNews, News, Picture, Row, Rows, SlotNow } from "./model";

/** A run as the page knows it: the picture, a row for each candidate, and what is in training. */
export class Run {
  picture: Picture | null = null;
  /** By rising id. */
  rows: Row[] = [];
  slots: SlotNow[] = [];
  waiting = 0;
  /** Epochs of candidates that are not evaluated yet, by id. */
  training = new Map<number, EpochNews[]>();
  /** The sequence of the last record that is folded in. */
  sequence = 0;
  /** Rises with every change. */
  version = 0;
  /** Rises when rows change. */
  rows_version = 0;
  /** Notes and tags by candidate; 0 is the run. */
  annotations = new Map<number, Annotation>();
  connected = false;
  /** All candidates are here, not only those that came since. */
  complete = false;

  private by_id = new Map<number, Row>();
  /** Evaluations of candidates whose rows are still on their way: what was asked for may be older than what is told. */
  private ahead = new Map<number, Partial<Row>>();
  private listeners = new Set<() => void>();
  private scheduled = false;

  row(id: number): Row | undefined {
    return this.by_id.get(id);
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Tells listeners soon, and at most ten times a second: a run may have thousands of records in one. */
  changed(): void {
    ++this.version;
    if (this.scheduled) return;
    this.scheduled = true;
    setTimeout(() => {
      this.scheduled = false;
      for (const one of this.listeners) one();
    }, 100);
  }

  forget(): void {
    this.rows = [];
    this.by_id.clear();
    this.ahead.clear();
    this.training.clear();
    this.complete = false;
    ++this.rows_version;
  }

  /** Rows behind it are known and will not change: whatever is asked for again starts here. */
  settled(): number {
    const open = this.rows.find((r) => r.evaluated_sequence === null);
    if (open) return open.id - 1;
    return this.rows.at(-1)?.id ?? 0;
  }

  take_picture(p: Picture): void {
    // Records before this one, or another run behind the same address: nothing of it holds.
    if (p.sequence < this.sequence || (this.picture && this.picture.started !== p.started)) this.forget();
    this.picture = p;
    this.sequence = p.sequence;
    this.training.clear();
    this.annotations.clear();
    for (const row of this.rows) annotate(row, undefined);
    for (const one of p.annotations) this.annotate(one);
    this.changed();
  }

  private annotate(one: Annotation): void {
    if (one.tags.length || one.note) this.annotations.set(one.id, one);
    else this.annotations.delete(one.id);
    const row = this.by_id.get(one.id);
    if (row) annotate(row, one);
    ++this.rows_version;
  }

  take_rows(page: Rows): void {
    for (const cells of page.rows) {
      const made: Partial<Record<keyof Row, unknown>> = {};
      page.columns.forEach((name, i) => (made[name] = cells[i]));
      const row = made as Row;
      const known = this.by_id.get(row.id);
      if (known && known.evaluated_sequence !== null) continue; // An event was quicker.
      if (known) Object.assign(known, row, { text: undefined });
      else this.add(row);
    }
    ++this.rows_version;
    this.changed();
  }

  private add(row: Row): void {
    annotate(row, this.annotations.get(row.id));
    Object.assign(row, this.ahead.get(row.id));
    this.ahead.delete(row.id);
    this.by_id.set(row.id, row);
    const last = this.rows.at(-1);
    if (!last || last.id < row.id) {
      this.rows.push(row);
      return;
    }
    // Records that came meanwhile are here before what was asked for.
    this.rows.splice(first_in(this.rows.length, (i) => this.rows[i]!.id > row.id), 0, row);
  }

  take(news: News): void {
    if (news.event === "picture") return this.take_picture(news);
    if (news.event === "restarted") {
      this.sequence = 0;
      return this.forget();
    }
    if ("sequence" in news) {
      if (news.sequence <= this.sequence) return;
      this.sequence = news.sequence;
      if (this.picture) {
        this.picture.sequence = news.sequence;
        // A note may be written days after the run.
        if (news.event !== "annotated") this.picture.time = news.time;
      }
    }
    if (this.picture) this.fold(news, this.picture);
    this.changed();
  }

  private fold(news: Exclude<News, Picture>, p: Picture): void {
    switch (news.event) {
      case "born": {
        const { event: _, sequence, time, ...rest } = news;
        p.generation = Math.max(p.generation, news.generation);
        ++p.born;
        // All that is born after the plan is a training of the end.
        if (p.final_trainings > 0 && p.final_generation === 0) p.final_generation = news.generation;
        if (!this.by_id.has(news.id)) this.add(row_of({ ...rest, born: time, born_sequence: sequence }));
        ++this.rows_version;
        break;
      }
      case "evaluated": {
        const { event: _, sequence, time, tries: __, ...rest } = news;
        const row = this.by_id.get(news.id);
        const result = { ...rest, evaluated: time, evaluated_sequence: sequence, text: undefined };
        ++p.evaluated;
        if (row && p.final_generation !== 0 && row.generation === p.final_generation) ++p.final_evaluated;
        this.training.delete(news.id);
        if (row) Object.assign(row, result);
        else this.ahead.set(news.id, result);
        ++this.rows_version;
        break;
      }
      case "epoch": {
        const curve = this.training.get(news.id) ?? [];
        if (curve.length && curve.at(-1)!.epoch >= news.epoch) curve.length = 0; // It is tried again.
        curve.push(news);
        this.training.set(news.id, curve);
        const slot = this.slots.find((s) => s.slot === news.slot);
        if (slot) Object.assign(slot, { training: news.id, epoch: news.epoch, epochs: news.epochs });
        break;
      }
      case "generation": {
        const { event: _, sequence: __, time: ___, survivors: ____, ...line } = news;
        p.generations.push(line);
        break;
      }
      case "slots":
        this.slots = news.slots;
        this.waiting = news.waiting;
        break;
      case "slot":
        fold_stay(p, news);
        if (!news.joined) this.slots = this.slots.filter((s) => s.slot !== news.slot);
        break;
      case "attempt":
        p.attempts.push(news);
        this.training.delete(news.id);
        break;
      case "final_planned":
        p.final_trainings = news.trainings.length;
        break;
      case "model_composed":
      case "interim_composed":
        p.composed = news;
        break;
      case "finished":
        p.finished = news;
        p.state = "finished";
        break;
      case "paused":
        p.state = "paused";
        p.reason = news.reason;
        break;
      case "resumed":
        p.state = "running";
        p.reason = null;
        for (const stay of p.slots)
          if (stay.left === null) Object.assign(stay, { left: news.time, reason: "the run was resumed" });
        break;
      case "started":
        p.started = news.time;
        p.state = "running";
        break;
      case "ordered":
        if (news.order === "hold") Object.assign(p, { state: "held", reason: `${news.who} ordered it` });
        else if (news.order === "go on") Object.assign(p, { state: "running", reason: null });
        else if (news.order.startsWith("extend")) p.planned_generations += news.number;
        break;
      case "annotated": {
        const { event: _, sequence: __, time: ___, ...one } = news;
        this.annotate(one);
        break;
      }
      case "restarted":
        break;
    }
  }
}

/** Sets the row's note and tags, so that words are looked for in them too. */
function annotate(row: Row, one: Annotation | undefined): void {
  row.tags = one?.tags ?? [];
  row.note = one?.note ?? null;
  delete row.text;
}

function fold_stay(p: Picture, news: { slot: string; joined: boolean; reason: string | null; time: number }): void {
  const stay = p.slots.findLast((s) => s.slot === news.slot && s.left === null);
  if (stay) Object.assign(stay, { left: news.time, reason: news.joined ? "replaced" : news.reason });
  if (news.joined) p.slots.push({ slot: news.slot, joined: news.time, left: null, reason: null });
}

function row_of(known: Pick<Row, "id" | "generation" | "born" | "born_sequence"> & Partial<Row>): Row {
  return {
    index: 0, parents: [], origin: "", equal_to: null, nodes: 0, operators: {}, outcome: null, fitness: null, parameters: null,
    seconds: null, slot: null, reason: null, evaluated: null, evaluated_sequence: null, hyperparameters: {}, metrics: {},
    ...known,
  };
}
