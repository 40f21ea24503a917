// What the page of a queue shows, without a browser: `node --test` of this folder, by dashboard_test.py.

import assert from "node:assert/strict";
import { test } from "node:test";

const { command_of, find_entries, is_over, may_cancel, readable_log, sort_entries } = await import("../../../tools/dashboard/src/queue/model.ts");

const entries = [
  { id: 1, user: "ann", kind: "run", state: "running", slots: 2, submitted: 5, command: ["digits.toml", "--seed", "3"] },
  { id: 2, user: "bob", kind: "command", state: "waiting", slots: 1, submitted: 6, priority: 4, name: "Plot", reason: "waits for #1" },
  { id: 12, user: "ann", kind: "command", state: "failed", slots: 1, submitted: 7, priority: 4, reason: "ended with status 3", command: ["true"] },
];
const ids = (found) => found.map((e) => e.id);

test("entries are found by their user and by words, whatever their case", () => {
  assert.deepEqual(ids(find_entries(entries, "", "")), [1, 2, 12]);
  assert.deepEqual(ids(find_entries(entries, "ann", "")), [1, 12]);
  assert.deepEqual(ids(find_entries(entries, "", "plot")), [2]);
  assert.deepEqual(ids(find_entries(entries, "", "SEED digits")), [1]);
  assert.deepEqual(ids(find_entries(entries, "bob", "digits")), []);
  assert.deepEqual(ids(find_entries(entries, "", "#12")), [12]);
});

test("entries are sorted by what a column shows, equal ones by their age", () => {
  assert.deepEqual(ids(sort_entries(entries, "-id")), [12, 2, 1]);
  assert.deepEqual(ids(sort_entries(entries, "-priority")), [2, 12, 1]);
  assert.deepEqual(ids(sort_entries(entries, "state")), [1, 2, 12]);
  assert.deepEqual(ids(sort_entries(entries, "nothing")), [1, 2, 12]);
});

test("who sees the command may cancel what is not over", () => {
  assert.deepEqual(entries.map(may_cancel), [true, false, false]);
  assert.deepEqual(entries.map(is_over), [false, false, true]);
  assert.equal(may_cancel({ ...entries[0], stopping: true }), false);
  assert.equal(may_cancel({ ...entries[0], state: "held" }), true);
  assert.deepEqual(entries.map(command_of), ["run digits.toml --seed 3", "", "true"]);
});

test("a log is shown as a terminal would have left it", () => {
  assert.equal(readable_log("\x1b[1;31mred\x1b[0m\n"), "red\n");
  assert.equal(readable_log("10 %\r20 %\r30 %\nnext\r\n"), "30 %\nnext\n");
  assert.equal(readable_log("10 %\r"), "10 %\r");
});
