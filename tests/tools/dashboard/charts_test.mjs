// What the page's charts draw, without a browser: `node --test` of this folder, by dashboard_test.py.

import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";

// The bundler finds sources without their ending; Node does not.
registerHooks({
  resolve: (name, context, next) => next(name.startsWith("./") && !name.endsWith(".ts") ? `${name}.ts` : name, context),
});
const source = (name) => import(`../../../tools/dashboard/src/${name}.ts`);
const { bars_of, rectangles_of, use_of } = await source("bars");
const { csv_text } = await source("csv");
const { epoch_that_counts } = await source("curve");
const { class_figures, compared_of, metrics_shown } = await source("examined");
const { fields_of } = await source("fields");
const { counted, readable_toml } = await source("format");
const { front_of } = await source("moment");

/** Numbers from 0 to 1, the same each time (Park and Miller, 1988). */
function numbers(seed) {
  let at = seed;
  return () => (at = (at * 48271) % 2147483647) / 2147483647;
}

/** So many candidates, one after the other on each of two slots, in an order of birth that is none of time. */
function two_slots(count) {
  const next = numbers(7);
  const clock = [0, 0];
  const rows = Array.from({ length: count }, (_, i) => {
    const lane = i % 2;
    const seconds = 0.2 + next() * (i % 7 === 0 ? 4 : 0.5);
    clock[lane] += seconds * 1000;
    return { id: 0, slot: `cpu:${lane}`, seconds, evaluated: clock[lane], evaluated_sequence: 1, fitness: next() };
  });
  // Generations are bred together and handed out as slots become free.
  for (let i = 0; i < count; i += 24) rows.splice(i, 24, ...rows.slice(i, i + 24).toSorted((a, b) => a.fitness - b.fitness));
  rows.forEach((r, i) => (r.id = i + 1));
  return { rows, end: Math.max(...clock) };
}

test("the timeline draws every bar, in whichever order candidates were born", () => {
  const { rows, end } = two_slots(240);
  const lanes = ["cpu:0", "cpu:1"];
  const picture = { showing: "finished", slots: lanes.map((slot) => ({ slot, joined: 0, left: null, reason: null })) };
  const bars = bars_of(picture, [], () => undefined, { rows, cut: 1, generation: null }, lanes, end);
  const bounds = { from: 0, to: end, left: 50, width: 1200 };
  const drawn = rectangles_of(bars, bounds);
  assert.equal(drawn.length, 240);
  for (const [lane, use] of use_of(bars, lanes, picture, bounds).entries()) {
    const own = rows.filter((r) => r.slot === lanes[lane]);
    assert.equal(use.candidates, 120);
    assert.ok(Math.abs(use.busy_seconds - own.reduce((sum, r) => sum + r.seconds, 0)) < 1e-6);
    // Each leaves three quarters of a pixel to its neighbour.
    const width = drawn.filter((d) => d.bar.lane === lane).reduce((sum, d) => sum + d.width, 0);
    assert.ok(Math.abs(width + 120 * 0.75 - (use.busy_seconds * 1000 * bounds.width) / end) < 5);
  }
});

test("where bars are narrower than a pixel, what is drawn covers as much as all of them would", () => {
  const { rows, end } = two_slots(20000);
  const lanes = ["cpu:0", "cpu:1"];
  const bars = bars_of({ showing: "finished", slots: [] }, [], () => undefined, { rows, cut: 1, generation: null }, lanes, end);
  const bounds = { from: 0, to: end, left: 0, width: 1000 };
  const drawn = rectangles_of(bars, bounds);
  assert.ok(drawn.length < 6000, `${drawn.length} rectangles`);
  for (const lane of [0, 1]) {
    const pixels = new Set();
    for (const d of drawn) if (d.bar.lane === lane) for (let x = Math.floor(d.from); x <= d.from + d.width; ++x) pixels.add(x);
    assert.ok(pixels.size > 990, `${pixels.size} of 1000 pixels`);
  }
});

const candidate = (id, fitness, parameters, loss = 0) => ({ id, fitness, parameters, metrics: { "validation.loss": loss } });

test("the front of one objective is what none dominates in what is drawn", () => {
  for (const maximize of [true, false])
    for (let seed = 1; seed <= 60; ++seed) {
      const next = numbers(seed);
      const objective = { aims: [{ metric: "validation.accuracy", maximize }], constraints: [] };
      // Few values, so that many are equal in one of them or in both.
      const rows = Array.from({ length: 40 }, (_, i) => candidate(i + 1, Math.ceil(next() * 6) / 6, Math.ceil(next() * 8), next()));
      const better = (a, b) => (maximize ? a > b : a < b);
      const fitter = (a, b) => (a.fitness !== b.fitness ? (better(a.fitness, b.fitness) ? -1 : 1) : a.metrics["validation.loss"] - b.metrics["validation.loss"]);
      const dominates = (a, b) => !better(b.fitness, a.fitness) && a.parameters <= b.parameters && (better(a.fitness, b.fitness) || a.parameters < b.parameters);
      const front = front_of(rows, objective, fitter);
      const expected = rows.filter((r) => !rows.some((o) => dominates(o, r)));
      // Of twins the fitter one.
      const best = expected.filter((r) => !expected.some((o) => o.fitness === r.fitness && o.parameters === r.parameters && fitter(o, r) < 0));
      assert.deepEqual(front.map((r) => r.id), best.sort((a, b) => a.parameters - b.parameters).map((r) => r.id), `seed ${seed}`);
    }
});

test("the front has no larger network of the same fitness, though its loss be lower", () => {
  const objective = { aims: [{ metric: "validation.accuracy", maximize: true }], constraints: [] };
  const rows = [candidate(155, 1, 33490, 0.02), candidate(232, 1, 114210, 0.01)];
  assert.deepEqual(front_of(rows, objective, (a, b) => a.metrics["validation.loss"] - b.metrics["validation.loss"]).map((r) => r.id), [155]);
});

test("the epoch that counts is the first with the candidate's own metrics", () => {
  const epoch = (number, accuracy, loss) => ({ number, metrics: { "train.loss": number, "validation.accuracy": accuracy, "validation.loss": loss } });
  const curve = [epoch(1, 0.9, 0.3), epoch(2, 1, 0.2), epoch(3, 1, 0.1), epoch(4, 0.99, 0.2)];
  assert.equal(epoch_that_counts({ metrics: { ...curve[2].metrics, multiply_adds: 12 }, curve }), 3);
  assert.equal(epoch_that_counts({ metrics: { "validation.accuracy": 0.5 }, curve }), undefined);
  assert.equal(epoch_that_counts({ metrics: {}, curve: [] }), undefined);
});

test("what evolution earned has validation metrics of candidates, the champion last, the objective's metric first", () => {
  const examination = (subject, id, metrics) => ({ subject, id, metrics, parameters: 1 });
  const compared = compared_of([
    examination("champion", 7, { "test.accuracy": 0.98, "test.loss": 0.1 }),
    examination("best random candidate", 3, { "test.accuracy": 0.9, "test.loss": 0.2 }),
    examination("linear model", null, { "validation.accuracy": 0.8, "test.accuracy": 0.7 }),
  ], (id) => ({ 7: { "train.loss": 0, "validation.accuracy": 1 }, 3: { "validation.accuracy": 0.95 } })[id]);
  assert.deepEqual(compared.map((c) => [c.examination.subject, c.metrics["validation.accuracy"], c.metrics["test.accuracy"]]),
    [["best random candidate", 0.95, 0.9], ["linear model", 0.8, 0.7], ["champion", 1, 0.98]]);
  assert.deepEqual(metrics_shown(compared, "validation.accuracy"), ["validation.accuracy", "test.accuracy", "test.loss"]);
});

test("numbers of an experiment are read as they were written", () => {
  assert.equal(readable_toml("rate = 0.029999999999999999\nx = [0.80000000000000004, 1.0e-300, 12]\n"), "rate = 0.03\nx = [0.8, 1.0e-300, 12]\n");
  assert.equal(readable_toml('name = "0.029999999999999999"\nother = \'0.029999999999999999\'\n'), 'name = "0.029999999999999999"\nother = \'0.029999999999999999\'\n');
  assert.equal(readable_toml("share = 1.0000000000000000"), "share = 1.0");
});

test("one is one", () => {
  assert.deepEqual([0, 1, 2000].map((n) => counted(n, "slot")), ["0 slots", "1 slot", "2,000 slots"]);
});

test("a table is CSV that any program reads", () => {
  assert.equal(csv_text({ columns: ["a", 'b "c"'], rows: [[0.1, "x,y"], [null, "two\nlines"]] }), 'a,"b ""c"""\r\n0.1,"x,y"\r\n,"two\nlines"\r\n');
});

test("figures of classes are those of their rows and columns", () => {
  assert.deepEqual(class_figures([[8, 2, 0], [0, 5, 0], [0, 0, 0]]), [
    { examples: 10, precision: 1, recall: 0.8, f1: 16 / 18 },
    { examples: 5, precision: 5 / 7, recall: 1, f1: 10 / 12 },
    { examples: 0, precision: null, recall: null, f1: null },
  ]);
});

test("what a candidate lacks or does not have yet has no place on an axis, and no layer of a kind is none", () => {
  const row = { id: 3, evaluated: 9000, evaluated_sequence: 7, parameters: 12, operators: { conv: 2 }, hyperparameters: { optimizer: "adam" }, metrics: { "validation.loss": 0.5 } };
  const fields = fields_of([row], { hyperparameters: ["optimizer", "momentum"], operators: ["conv", "dense"], metrics: ["validation.loss"] });
  const value = (name, cut) => fields.find((f) => f.name === name).of(row, cut);
  assert.deepEqual(["time", "parameters", "conv layers", "dense layers", "optimizer", "momentum", "validation.loss"].map((n) => value(n, 8)), [9, 12, 2, 0, "adam", null, 0.5]);
  assert.deepEqual(["time", "parameters", "conv layers", "validation.loss"].map((n) => value(n, 6)), [null, null, 2, null]);
  assert.equal(fields.find((f) => f.name === "optimizer").kind, "choice");
});
