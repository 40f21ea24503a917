// The page's importance of hyperparameters: `node --test` of this folder, by dashboard_test.py.

import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";

registerHooks({
  resolve: (name, context, next) => next(name.startsWith("./") && !name.endsWith(".ts") ? `${name}.ts` : name, context),
});
const { expected_at, grow_forest } = await import("../../../tools/dashboard/src/forest.ts");

/** Numbers from 0 to 1, the same each time (Park and Miller, 1988). */
function numbers(seed) {
  let at = seed;
  return () => (at = (at * 48271) % 2147483647) / 2147483647;
}

function made_up(count) {
  const next = numbers(11);
  const columns = [[], [], [], []];
  const targets = [];
  for (let i = 0; i < count; ++i) {
    const rate = 10 ** (-4 + 3 * next());
    const optimizer = ["adam", "sgd", "rmsprop"][Math.floor(next() * 3)];
    const momentum = optimizer === "sgd" ? next() : null;
    const idle = next();
    [rate, optimizer, momentum, idle].forEach((v, f) => columns[f].push(v));
    targets.push(-((Math.log10(rate) + 2.5) ** 2) + (optimizer === "sgd" ? -0.4 : 0) + 0.05 * next());
  }
  return { columns, targets };
}

test("importance is of what the target depends on, in its order, and of nothing else", () => {
  const { columns, targets } = made_up(240);
  const { importance, explained } = grow_forest(columns, targets);
  assert.ok(Math.abs(importance.reduce((a, b) => a + b) - 1) < 1e-9);
  const [rate, optimizer, , idle] = importance;
  assert.ok(rate > 3 * optimizer, `${importance}`);
  assert.ok(optimizer > 5 * idle, `${importance}`);
  assert.ok(idle < 0.02, `${importance}`);
  assert.ok(explained > 0.8 && explained <= 1, `${explained}`);
});

test("of noise alone nothing is explained", () => {
  const next = numbers(5);
  const columns = [0, 1, 2].map(() => Array.from({ length: 300 }, next));
  const { explained } = grow_forest(columns, Array.from({ length: 300 }, next));
  assert.ok(explained < 0.1, `${explained}`);
});

test("the same data give the same forest, and a constant target none", () => {
  const { columns, targets } = made_up(60);
  assert.deepEqual(grow_forest(columns, targets).importance, grow_forest(columns, targets).importance);
  const flat = grow_forest(columns, targets.map(() => 1));
  assert.deepEqual([flat.explained, ...flat.importance], [0, 0, 0, 0, 0]);
});

test("what is expected follows the target", () => {
  const { columns, targets } = made_up(240);
  const forest = grow_forest(columns, targets);
  const some = Array.from({ length: 40 }, (_, i) => i * 6);
  const at = (rate, optimizer) => expected_at(forest, some, 0, rate, 1, optimizer);
  assert.ok(at(10 ** -2.5, "adam") > at(10 ** -3.9, "adam") + 0.5);
  assert.ok(at(10 ** -2.5, "adam") > at(10 ** -2.5, "sgd") + 0.1);
});
