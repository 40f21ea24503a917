// Tests of the page's fold without a browser: dashboard_test.py runs `node --test` on this file.

import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";

// The bundler finds sources without their ending; Node does not.
registerHooks({
  resolve: (name, context, next) => next(name.startsWith("./") && !name.endsWith(".ts") ? `${name}.ts` : name, context),
});
const { Run } = await import("../../../tools/dashboard/src/run.ts");
const { parse_query } = await import("../../../tools/dashboard/src/query.ts");
const { moment_of } = await import("../../../tools/dashboard/src/moment.ts");
const { final_phase } = await import("../../../tools/dashboard/src/final_phase.ts");

const columns = ["id", "generation", "index", "parents", "origin", "equal_to", "nodes", "operators", "outcome", "fitness", "parameters",
  "seconds", "slot", "reason", "born", "evaluated", "born_sequence", "evaluated_sequence", "hyperparameters", "metrics"];

const cells = (id, born, evaluated = null) => {
  const known = evaluated !== null;
  return [id, 0, id, [], "random", null, 3, {}, known ? "succeeded" : null, known ? id / 100 : null, known ? 10 : null,
    known ? 1 : null, known ? "cpu:0" : null, null, born, evaluated, born, evaluated, {}, {}];
};
const page = (...rows) => ({ columns, rows });
const picture = (sequence, generations = []) => ({
  event: "picture", showing: "live", sequence, time: sequence, started: 1, maximize: true, generation: 0, born: 0,
  evaluated: 0, generations, slots: [], attempts: [], annotations: [],
  objective: { aims: [{ metric: "validation.accuracy", maximize: true }], constraints: [] },
});
const born = (id, sequence) => ({
  event: "born", sequence, time: sequence, id, generation: 0, index: id, parents: [], origin: "random", equal_to: null,
  nodes: 3, operators: {}, hyperparameters: {},
});
const evaluated = (id, sequence) => ({
  event: "evaluated", sequence, time: sequence, id, outcome: "succeeded", fitness: id / 100, metrics: {}, parameters: 10,
  seconds: 1, slot: "cpu:0", tries: 1, equal_to: null, reason: null,
});
const open_of = (run, generation = null) => moment_of(run, generation).open.map((r) => r.id);

/** Every order of a list's elements. */
function* orders(list) {
  if (list.length < 2) yield list;
  else for (const [i, one] of list.entries()) for (const rest of orders(list.toSpliced(i, 1))) yield [one, ...rest];
}

test("rows that were asked for before an evaluation and come after it do not open its candidate again", () => {
  const run = new Run();
  run.take(picture(5));
  run.take(evaluated(1, 6));
  run.take_rows(page(cells(1, 2), cells(2, 3)));
  assert.deepEqual(open_of(run), [2]);
  assert.equal(run.row(1).fitness, 0.01);
  assert.equal(run.row(1).evaluated_sequence, 6);
});

test("the rows are the same in whichever order they and the news arrive", () => {
  // #1 to #3 were born before the picture; the rows were read before #1 and #4 were evaluated, after #2 and #3 were.
  const rows = page(cells(1, 2), cells(2, 3, 5), cells(3, 4, 8), cells(4, 6));
  const news = [born(4, 6), evaluated(1, 7), evaluated(3, 8), evaluated(4, 9)];
  for (let at = 0; at <= news.length; ++at) {
    const run = new Run();
    run.take(picture(5));
    for (const [i, one] of news.entries()) {
      if (i === at) run.take_rows(rows);
      run.take(one);
    }
    if (at === news.length) run.take_rows(rows);
    assert.deepEqual(run.rows.map((r) => [r.id, r.evaluated_sequence, r.outcome]),
      [[1, 7, "succeeded"], [2, 5, "succeeded"], [3, 8, "succeeded"], [4, 9, "succeeded"]], `rows at ${at}`);
  }
});

test("the trainings at the end are counted for themselves, and timed by their own pace", () => {
  const run = new Run();
  run.take({ ...picture(5), state: "running", final_trainings: 0, final_evaluated: 0, final_generation: 0 });
  const says = () => Object.values(final_phase(run.picture, moment_of(run, null))).join(" ").trim();
  run.take(born(1, 6));
  run.take(evaluated(1, 7));
  run.take({ event: "final_planned", sequence: 8, time: 8, trainings: [{}, {}, {}] });
  for (const id of [2, 3, 4]) run.take({ ...born(id, 8 + id), generation: 1, time: 10_000 });
  assert.equal(says(), "0 of 3 trainings");
  run.take({ ...evaluated(2, 13), time: 30_000 });
  assert.equal(says(), "1 of 3 trainings, 40 s left");
  run.picture.state = "held";
  assert.equal(says(), "1 of 3 trainings");
  run.picture.state = "running";
  run.take({ ...evaluated(3, 14), time: 40_000 });
  assert.equal(says(), "2 of 3 trainings, 15 s left");
  run.take({ ...evaluated(4, 15), time: 41_000 });
  assert.equal(says(), "putting the model together");
  run.take({ event: "finished", sequence: 16, time: 42_000 });
  assert.equal(says(), "3 of 3 trainings");
});

test("pages of rows may come in any order", () => {
  for (const order of orders([1, 2, 3, 4])) {
    const run = new Run();
    run.take(picture(9));
    for (const id of order) run.take_rows(page(cells(id, id, id + 4)));
    assert.deepEqual(run.rows.map((r) => r.id), [1, 2, 3, 4]);
  }
});

test("what was told of another run behind the same address is forgotten with its rows", () => {
  const run = new Run();
  run.take(picture(5));
  run.take(evaluated(1, 6));
  run.take({ event: "restarted" });
  run.take(picture(2));
  run.take_rows(page(cells(1, 2)));
  assert.deepEqual(open_of(run), [1]);
});

test("the past has every evaluation recorded before the generation was closed, also those that count for the next", () => {
  // A steady state of two to a generation: #3 is evaluated in the transaction that completes generation 0.
  const run = new Run();
  run.take(picture(9, [{ generation: 0, closed: 8, closed_sequence: 8 }]));
  run.take_rows(page(cells(1, 2, 5), cells(2, 3, 6), cells(3, 4, 7), cells(4, 9)));
  const moment = moment_of(run, 0);
  assert.deepEqual(moment.rows.map((r) => r.id), [1, 2, 3]);
  assert.deepEqual(moment.open, []);
  assert.equal(moment.evaluated, 3);
  assert.deepEqual(open_of(run), [4]);
});

test("what people write is of its row, whichever comes first, and candidates are found by it", () => {
  const written = (id, sequence, tags, note = null) => ({ event: "annotated", sequence, time: 99_999, id, note, who: note && "ada", written: note && 1, tags });
  const found = (run, query) => run.rows.filter((r) => parse_query(query, () => false).test(r, run.sequence)).map((r) => r.id);
  for (const early of [true, false]) {
    const run = new Run();
    run.take({ ...picture(5), annotations: [{ id: 1, note: null, who: null, written: null, tags: ["good"] }] });
    if (!early) run.take_rows(page(cells(1, 2, 4), cells(2, 3, 5)));
    run.take(written(2, 6, ["good", "goodish"], "Odd one"));
    run.take(written(0, 7, ["baseline"]));
    if (early) run.take_rows(page(cells(1, 2, 4), cells(2, 3, 5)));
    assert.deepEqual(found(run, "tag:good"), [1, 2]);
    assert.deepEqual(found(run, "tag=goodish"), [2]);
    assert.deepEqual(found(run, "tag!=goodish"), [1]);
    assert.deepEqual(found(run, "note:odd"), [2]);
    assert.deepEqual(found(run, "goodish"), [2]);
    assert.deepEqual(run.annotations.get(0).tags, ["baseline"]);
    assert.equal(run.picture.time, 5);
    run.take(written(2, 8, []));
    assert.deepEqual(found(run, "tag:good"), [1]);
    assert.equal(run.row(2).note, null);
  }
});
