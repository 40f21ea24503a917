// The page of a queue in a real browser, for queue_page_test.py, which serves the queue and says when to go on.
//
// usage: node queue_page.mjs PLAYWRIGHT ADDRESS SCENARIO      browser.mjs says how it is spoken to

import { answer, axe_says, move, run_scenario, step, text, walk } from "./browser.mjs";

const hashes = ["#/", "#/machine", "#/entry/1"];

/** The rows that exist, as texts by column. */
const rows_of = (page) => page.locator("[data-test=table] .body .row").evaluateAll((rows) =>
  rows.map((r) => Object.fromEntries([...r.children].map((c) => [c.className.split(" ")[0].slice(2), c.textContent]))));

/** The rows of the table once it says that it has so many. */
async function listed(page, says) {
  await page.waitForFunction((w) => document.querySelector("[data-test=found]")?.textContent === w, says);
  return rows_of(page);
}

const lines_of = (page, test) => page.locator(`[data-test=${test}] tbody tr`).evaluateAll((rows) =>
  rows.map((r) => [...r.cells].map((c) => c.textContent)));

const scenarios = {
  /** What is in the queue, by each filter. */
  async look(page) {
    const seen = { place: await page.evaluate(() => location.href) };
    seen.rows = await listed(page, "3 of 3");
    seen.figures = await text(page, "figures");
    await page.locator("#query").fill("html");
    seen.found = await listed(page, "1 of 3");
    seen.elements = await page.locator("[data-test=table] .body b").count();
    await page.locator("#query").fill("");
    await page.locator("[data-test=user]").selectOption("bob");
    seen.bobs = await listed(page, "1 of 3");
    await page.locator("[data-test=user]").selectOption("");
    await page.locator("[data-test=state]").selectOption("running");
    seen.running = await listed(page, "1 of 1");
    await page.reload();
    seen.after_reload = await listed(page, "1 of 1");
    await move(page, "#/machine");
    await page.waitForSelector("[data-test=users] tbody tr");
    seen.slots = await lines_of(page, "slots");
    seen.users = await lines_of(page, "users");
    answer(seen);
  },

  /** The machines that have joined, once they are so many. */
  async machines(page) {
    await move(page, "#/machine");
    const machines = Number(await step());
    await page.waitForFunction((n) => document.querySelectorAll("[data-test=machines] tbody tr").length === n, machines);
    answer({ machines: await lines_of(page, "machines"), slots: await lines_of(page, "slots"), against: await axe_says(page) });
  },

  /** An entry of one's own: its log as it grows, and its end by the button. */
  async follow(page) {
    await move(page, "#/entry/1");
    await page.waitForSelector("#entry-title");
    for (let wanted = await step(); wanted !== "cancel"; wanted = await step()) {
      await page.waitForFunction((w) => document.querySelector("[data-test=log]")?.textContent.includes(w), wanted);
      answer({ title: await page.locator("#entry-title").textContent(), log: await text(page, "log"), facts: await text(page, "facts") });
    }
    await page.waitForFunction(() => [...document.querySelectorAll("[data-test=processes] td:last-child")].some((c) => c.textContent === "sleep 1000"));
    const processes = await lines_of(page, "processes");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Yes, cancel" }).click();
    await page.waitForFunction(() => /^statecancelled/.test(document.querySelector("[data-test=facts]").textContent));
    answer({ processes, facts: await text(page, "facts"), buttons: await page.locator("main button").count() });
  },

  /** What somebody sees of an entry that is another's. */
  async other(page) {
    await move(page, "#/entry/1");
    await page.waitForSelector("#entry-title");
    answer({ facts: await text(page, "facts"), buttons: await page.locator("main button").count(), log: await page.locator("[aria-label=Log]").textContent() });
  },

  /** The token is asked for, and kept as long as the tab is. */
  async token(page) {
    const seen = {};
    const say = async (token) => {
      await page.locator("#token").fill(token);
      await page.getByRole("button", { name: "Look" }).click();
    };
    seen.asks = await page.locator("#token").getAttribute("type");
    await say("wrong");
    await page.waitForSelector("#token-says.problem");
    seen.refusal = await page.locator("#token-says").textContent();
    await say(await step());
    seen.rows = await listed(page, "1 of 1");
    await page.reload();
    seen.again = await listed(page, "1 of 1");
    seen.kept_for_later = await page.evaluate(() => localStorage.length + document.cookie.length);
    answer(seen);
  },

  /** What axe-core has against each view, where the Tab key leads, and how wide it is on a telephone. */
  async accessible(page) {
    const seen = { against: {}, stops: {}, widths: {} };
    for (const hash of hashes) {
      await move(page, hash);
      await page.waitForSelector("main .panel");
      if (hash.includes("entry")) await page.waitForFunction(() => document.querySelector("[data-test=log]")?.textContent);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        seen.against[`${hash} ${colorScheme}`] = await axe_says(page);
      }
      await page.reload(); // The Tab key begins at the top.
      await page.waitForSelector("main .panel");
      if (hash.includes("entry")) await page.waitForFunction(() => document.querySelector("[data-test=log]")?.textContent);
      seen.stops[hash] = await walk(page);
      await page.setViewportSize({ width: 380, height: 740 });
      seen.widths[hash] = await page.evaluate(() => document.documentElement.scrollWidth);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    answer(seen);
  },

  /** How long until what was asked for is seen, among so many entries as a step says. */
  async many(page) {
    const all = await step();
    await page.waitForFunction((w) => document.querySelector("[data-test=found]")?.textContent === w, `${all} of ${all}`);
    answer(await page.evaluate(measure));
  },
};

/** Runs in the page. */
async function measure() {
  const table = document.querySelector("[data-test=table]");
  const field = document.querySelector("#query");
  const said = () => document.querySelector("[data-test=found]").textContent;
  const rows = () => [...table.querySelectorAll(".body .row")];
  const frame = () => new Promise((ok) => requestAnimationFrame(() => {
    const painted = new MessageChannel(); // Behind the frame that was drawn.
    painted.port1.onmessage = ok;
    painted.port2.postMessage(0);
  }));
  const idle = () => new Promise((ok) => requestIdleCallback(ok, { timeout: 2000 }));
  const took = {};
  let most_rows = 0;
  async function time(what, act, done) {
    await idle();
    const start = performance.now();
    act();
    do await frame(); while (!done());
    (took[what] ??= []).push(Math.round(performance.now() - start));
    most_rows = Math.max(most_rows, rows().length);
  }
  const here = () => rows().some((r) => Math.abs(r.getBoundingClientRect().top - table.getBoundingClientRect().top) < 60);
  for (let i = 1; i <= 10; ++i) await time("scroll", () => { table.scrollTop = 27_000 * i; }, here);
  for (const query of ["job 77", "ann", "job 9 true", "#4711", "nothing", ""]) {
    const before = said();
    await time("filter", () => {
      field.value = query;
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }, () => said() !== before);
  }
  for (const column of ["priority", "name", "submitted"]) {
    const head = table.querySelector(`.head .c-${column}`);
    await time("sort", () => head.querySelector("button").click(), () => head.getAttribute("aria-sort") === "descending");
  }
  return { took, most_rows };
}

await run_scenario(scenarios, "main");
