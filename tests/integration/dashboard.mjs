// The page of a run in a real browser, for dashboard_test.py, which starts what it shows and says when to go on.
//
// usage: node dashboard.mjs PLAYWRIGHT ADDRESS SCENARIO      browser.mjs says how it is spoken to

import { address, answer, axe_says, move, patience, run_scenario, step, text, walk } from "./browser.mjs";

/** Waits until the page knows all candidates, and returns how many it shows of how many. */
async function found(page) {
  const says = await page.waitForFunction(() => {
    const said = document.querySelector("[data-test=found]")?.textContent ?? "";
    return /^[\d,]+ of [\d,]+$/.test(said) && said;
  });
  return (await says.jsonValue()).split(" of ").map((n) => Number(n.replaceAll(",", "")));
}

/** All rows that the table has, though only some exist at a time. */
async function all_rows(page) {
  await found(page);
  return page.evaluate(async () => {
    const table = document.querySelector("[data-test=table]");
    const rows = new Map();
    const cell = (row, c) => row.querySelector(`.c-${c}`).textContent;
    for (let top = 0; top <= table.scrollHeight; top += 200) {
      table.scrollTop = top;
      await new Promise((ok) => requestAnimationFrame(() => requestAnimationFrame(ok)));
      for (const row of table.querySelectorAll(".body .row"))
        rows.set(Number(cell(row, "id").slice(1)),
          ["generation", "fitness", "outcome", "parameters"].map((c) => cell(row, c)));
    }
    return Object.fromEntries(rows);
  });
}

/** The colour of an element as it is seen, and the one that means a fault. */
const colours = (locator) => locator.evaluate((e) => {
  const probe = document.createElement("span");
  probe.style.color = "var(--bad)";
  document.body.append(probe);
  const bad = getComputedStyle(probe).color;
  probe.remove();
  return { seen: getComputedStyle(e).color, bad };
});

/** The rows of a chart's table, by its heads, once they satisfy `is`. */
async function table_of(page, chart, is = (rows) => rows.length > 0) {
  const button = page.getByRole("button", { name: `Table: ${chart}`, exact: true });
  await button.waitFor();
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
  const table = page.locator(`.data[aria-label="${chart}, as a table"] table`);
  for (;;) {
    const rows = await table.evaluate((t) => {
      const texts = (row) => [...row.cells].map((c) => c.textContent.trim());
      const [head, ...body] = [...t.rows].map(texts);
      return body.map((cells) => Object.fromEntries(cells.map((c, i) => [head[i], c])));
    });
    if (is(rows)) return rows;
  }
}

/** Returns for each lane of the timeline how many pixels are drawn as bars, and how many show only that the slot is there. Reads the
    canvas once, whole: Chromium complains of one that is read repeatedly. */
const busy_of_lanes = (page, lanes) => page.evaluate((lanes) => {
  const canvas = document.querySelector("section[aria-label='Timeline of slots'] canvas");
  const dots = devicePixelRatio;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return Array.from({ length: lanes }, (_, lane) => {
    const row = Math.round((lane * 24 + 12) * dots) * canvas.width;
    const seen = { bar: 0, there: 0 };
    for (let x = Math.round(60 * dots); x < canvas.width; ++x) {
      const [r, g, b, a] = pixels.slice(4 * (row + x), 4 * (row + x) + 4);
      if (a === 0) continue;
      // The accent is blue, a failure red, and a slot that is only there grey.
      ++seen[Math.max(r, g, b) - Math.min(r, g, b) > 40 ? "bar" : "there"];
    }
    return seen;
  });
}, lanes);

const views = ["", "candidates", "candidate/5", "trials", "hyperparameters", "curves", "slots", "compare/1/5", "runs", "experiment"];

const scenarios = {
  /** Answers what the charts draw, as their tables and the canvas have it. */
  async charts(page) {
    const seen = {};
    seen.fitness = await table_of(page, "validation.accuracy by generation");
    seen.front = await table_of(page, "validation.accuracy against parameters");
    seen.earned = await page.locator("[data-test=earned]").evaluate((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent.trim())));
    await move(page, "#/slots");
    seen.slots = await table_of(page, "Timeline of slots");
    seen.busy = await busy_of_lanes(page, seen.slots.length);
    await move(page, `#/candidate/${await step()}`);
    seen.curve = await table_of(page, "validation.accuracy by epoch");
    await page.waitForFunction(() => /parameter/.test(document.querySelector("section[aria-label=Network] svg")?.textContent ?? ""));
    seen.network = await page.locator("section[aria-label=Network] svg").textContent();
    await move(page, "#/trials?x=id");
    seen.trials = await table_of(page, "validation.accuracy against id");
    await move(page, "#/hyperparameters");
    seen.importance = await table_of(page, "Importance for validation.accuracy");
    await move(page, "#/curves");
    seen.curves = await table_of(page, "validation.accuracy by epoch", (rows) => rows.length > 0 && Object.keys(rows[0]).length > 20);
    await move(page, "#/runs");
    seen.best = await table_of(page, "Best so far of runs");
    seen.runs = await page.locator("[data-test=runs]").textContent();
    await move(page, "#/experiment");
    seen.experiment = await page.locator("main pre").textContent();
    answer(seen);
  },

  /** Answers the rows of the models that the final one was chosen from, by the heads of their table. */
  async models(page) {
    answer(await page.locator("[data-test=models]").evaluate((t) => {
      const texts = (row) => [...row.cells].map((c) => c.textContent.trim());
      const [head, ...body] = [...t.rows].map(texts);
      return body.map((cells) => Object.fromEntries(cells.map((c, i) => [head[i], c])));
    }));
  },

  /** Answers what the page shows of the verdict where the server's is the sentence of a step. */
  async verdict(page) {
    const sentence = await step();
    await page.route("**/api/verdict", (route) => route.fulfill({ json: [sentence] }));
    await page.reload();
    await page.waitForSelector("[data-test=verdict] p");
    answer({ said: await text(page, "verdict"), elements: await page.locator("[data-test=verdict] p *").count() });
  },

  /** Answers what axe-core has against each view, in both colour schemes, with every table open. */
  async accessible(page) {
    const against = {};
    // It looks at styles by means that the page's policy forbids to scripts.
    const context = await page.context().browser().newContext({ bypassCSP: true, viewport: { width: 1280, height: 900 } });
    const looked = await context.newPage();
    looked.setDefaultTimeout(patience);
    await looked.goto(address);
    for (const colorScheme of ["light", "dark"]) {
      await looked.emulateMedia({ colorScheme });
      for (const view of views) {
        await move(looked, `#/${view}`);
        await looked.waitForSelector("main .panel");
        if (view === "candidates") await found(looked);
        if (/^(candidate\/|compare)/.test(view)) await looked.waitForSelector(".graph svg");
        await looked.evaluate(() => document.querySelectorAll(".tools [aria-expanded=false]").forEach((b) => b.click()));
        against[`${view} ${colorScheme}`] = await axe_says(looked);
      }
    }
    answer(against);
  },

  /** The report on a telephone: how wide it is, and what is narrower than a word in it. */
  async report(page) {
    const report = await page.context().browser().newPage({ viewport: { width: 380, height: 740 } });
    await report.goto(`file://${await step()}`);
    answer(await report.evaluate(() => {
      const context = document.createElement("canvas").getContext("2d");
      const narrow = [];
      for (const cell of document.querySelectorAll("th, td")) {
        const style = getComputedStyle(cell);
        context.font = style.font;
        const word = cell.innerText.split(/\s+/).reduce((a, b) => (b.length > a.length ? b : a), "");
        if (word.length < 24 && context.measureText(word).width > cell.clientWidth - parseFloat(style.paddingRight) + 1) narrow.push(word);
      }
      const letters = [...document.querySelectorAll("svg text")].filter((t) => t.getBoundingClientRect().width > 0)
        .map((t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a);
      const cut = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest(".wide")).length;
      return { width: document.documentElement.scrollWidth, narrow, smallest: Math.min(...letters), cut, text: document.body.innerText };
    }));
  },

  /** How many candidates come to be seen while the page is looked at, of twelve that are waited for. */
  async appears(page) {
    await move(page, "#/candidates");
    await found(page);
    answer(await page.evaluate(async (limit) => {
      const table = document.querySelector("[data-test=table]");
      const ids = () => [...table.querySelectorAll(".body .c-id")].map((e) => Number(e.textContent.slice(1)));
      const before = new Set(ids());
      const seen = new Set();
      const end = performance.now() + limit;
      while (seen.size < 12 && performance.now() < end) {
        for (const id of ids()) if (!before.has(id)) seen.add(id);
        await new Promise(requestAnimationFrame);
      }
      const page = await (await fetch("/api/candidates?count=10000")).json();
      const id = page.columns.indexOf("id");
      return page.rows.filter((r) => seen.has(r[id])).length;
    }, patience));
  },

  /** The rows and figures of a generation in the past, come to by keyboard, and again after a reload. */
  async past(page) {
    await move(page, "#/candidates");
    const now = await found(page);
    await page.locator("#time").focus();
    await page.keyboard.press("Home");
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
    const look = async () => ({
      time: await text(page, "time"), hash: await page.evaluate(() => location.hash), rows: await all_rows(page),
      figures: await text(page, "figures"),
    });
    await page.waitForFunction(() => /^generation 3,/.test(document.querySelector("[data-test=time]").textContent));
    const before = await look();
    await page.reload();
    const after = await look();
    await move(page, "#/?g=3");
    const legend = await text(page, "fitness-legend");
    await move(page, "#/candidates");
    await page.waitForFunction((n) => document.querySelector("[data-test=found]")?.textContent === n,
      now.map((n) => n.toLocaleString("en")).join(" of "));
    answer({ before, after, legend, now });
  },

  /** A slot while its processes are killed; each step names the states that are waited for. */
  async health(page) {
    for (let wanted = await step(); wanted; wanted = await step()) {
      const [slot, ...states] = wanted.split(" ");
      const line = page.locator(`[data-slot="${slot}"]`);
      await page.waitForFunction(([s, all]) => all.includes(document.querySelector(`[data-slot="${s}"]`)?.dataset.state), [slot, states]);
      const lost = line.locator(".lost");
      answer({
        state: await line.getAttribute("data-state"), mark: await colours(line.locator(".mark")),
        lost: (await lost.count()) ? { text: await lost.textContent(), ...(await colours(lost)) } : null,
      });
    }
  },

  /** A run of scripts, once the first of them stands as each step says. */
  async jobs(page) {
    for (let wanted = await step(); wanted; wanted = await step()) {
      await page.waitForFunction((w) => document.querySelector("[data-test=jobs] tbody td")?.textContent === w, wanted);
      answer({
        rows: await page.locator("[data-test=jobs] tbody tr").evaluateAll((rows) => rows.map((r) => [...r.cells].map((c) => c.textContent))),
        figures: await text(page, "figures"), workers: await text(page, "slots"),
        text: await page.evaluate(() => document.body.innerText), against: await axe_says(page),
      });
    }
  },

  /** What the slots' lines say of a team, once they say it of each. */
  async team(page) {
    const lines = page.locator("[data-test=team]");
    await page.waitForFunction((n) => document.querySelectorAll("[data-test=team]").length === n, Number(await step()));
    answer((await lines.allTextContents()).map((line) => line.replace(/\s+/g, " ").trim()));
  },

  /** A live page, and the same after a reload. */
  async reload(page) {
    await page.waitForSelector("[data-test=curves] a");
    await move(page, "#/candidates?q=generation<2&sort=fitness");
    const before = await all_rows(page);
    await page.reload();
    const after = await all_rows(page);
    const place = await page.evaluate(() => [location.hash, location.search, document.querySelector("#query").value]);
    await move(page, "#/");
    const curve = await page.waitForFunction(() => document.querySelector("[data-test=curves] li")?.textContent);
    answer({ before, after, place, curve: await curve.jsonValue() });
  },

  /** Waits until the page says that it shows what a step names, and answers it. */
  async showing(page) {
    for (let wanted = await step(); wanted; wanted = await step()) {
      await page.waitForFunction((w) => document.querySelector("[data-test=showing]")?.textContent === w, wanted);
      answer(await text(page, "showing"));
    }
  },

  /** Every stop of the tabulator on every view, and what a person can do with nothing but keys. */
  async keyboard(page) {
    const stops = {};
    for (const view of views) {
      await page.goto(`${address}#/${view}`);
      await page.reload();
      await page.waitForSelector("#time");
      if (view === "candidates") await found(page);
      if (view.startsWith("candidate/")) await page.waitForSelector(".graph svg");
      stops[view] = await walk(page);
    }
    await page.goto(`${address}#/candidates`);
    await page.reload();
    await found(page);
    await page.keyboard.press("Tab");
    const skip = await page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("Enter");
    const skipped = await page.evaluate(() => document.activeElement.id);
    await page.keyboard.press("/");
    await page.keyboard.type("g=2");
    await page.waitForFunction(() => location.hash.includes("q=g%3D2"));
    await page.locator("[data-test=table]").focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    const active = await page.evaluate(() => document.activeElement.getAttribute("aria-activedescendant"));
    const seen = await page.locator(`#${active}`).isVisible();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#candidate-title");
    const opened = await page.locator("#candidate-title").textContent();
    await page.keyboard.press("[");
    await page.waitForFunction(() => location.hash.includes("g="));
    const landmarks = await page.evaluate(() => ["header.top", "nav.views", "main", "footer"].map((s) => document.querySelectorAll(s).length));
    answer({ stops, skip, skipped, active, seen, opened, landmarks });
  },

  /** Orders to the run, each told in a step; what the page says of each, and then of the run. */
  async orders(page) {
    await page.getByRole("button", { name: "Orders" }).click();
    const said = page.locator("[data-test=order-answer]");
    for (let wanted = await step(); wanted; wanted = await step()) {
      const [button, recorded, showing] = wanted.split("|");
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.waitForFunction((r) => document.querySelector("[data-test=order-answer]").textContent.startsWith(r), recorded);
      await page.waitForFunction((w) => document.querySelector("[data-test=showing]").textContent === w, showing);
      answer(await said.textContent());
    }
  },

  /** Writes tags and a note, and finds candidates by them. */
  async annotate(page) {
    const tag = async (word) => {
      await page.getByLabel(/^A tag for /).fill(word);
      await page.getByRole("button", { name: "Add tag" }).click();
    };
    await page.getByLabel("A tag for the run").waitFor();
    await tag("watched");
    await page.waitForSelector("[data-test=tags] .chip");
    await move(page, "#/candidate/2");
    await page.getByLabel("A tag for #2").waitFor();
    await tag("good");
    await page.waitForSelector("[data-test=tags] .chip");
    await page.getByLabel("Note on #2").fill("<b>bold</b> & plain");
    await page.getByRole("button", { name: "Save note" }).click();
    await page.waitForSelector("[data-test=note]");
    await page.getByLabel(/^A tag for /).fill("good");
    const seen = {
      tags: await page.locator("[data-test=tags] .tag").allTextContents(),
      note: await text(page, "note"), elements: await page.locator("[data-test=note] *").count(),
      once: await page.getByRole("button", { name: "Add tag" }).isDisabled(),
    };
    await move(page, "#/candidates?q=tag:good");
    seen.found = Object.keys(await all_rows(page));
    await move(page, "#/trials?q=tag:good&x=id");
    seen.trials = (await table_of(page, "validation.accuracy against id")).map((r) => r.id);
    answer(seen);
  },

  /** The tags of the run, once they are those that a step names. */
  async tags_of_the_run(page) {
    const wanted = await step();
    const tags = () => [...document.querySelectorAll("[data-test=tags] .tag")].map((t) => t.textContent).join(" ");
    await page.waitForFunction(`(${tags})() === ${JSON.stringify(wanted)}`);
    answer(await page.evaluate(tags));
  },

  /** How wide the page is on a telephone, in both colour schemes. */
  async narrow(page) {
    const widths = {};
    await page.setViewportSize({ width: 380, height: 740 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const view of views) {
        await move(page, `#/${view}`);
        await page.waitForFunction(() => document.querySelector("main .panel"));
        widths[`${view} ${colorScheme}`] = await page.evaluate(() => [document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor]);
      }
    }
    answer(widths);
  },

  /** Answers how a reason that looks like HTML is shown. */
  async hostile(page) {
    await move(page, "#/candidates?q=outcome:crashed");
    await found(page);
    const link = page.locator("[data-test=table] .body .c-id a").first();
    await link.click();
    await page.waitForSelector(".reason");
    answer({ reason: await text_of(page, ".reason"), elements: await page.locator(".reason *").count() });
  },

  /** How long until what was asked for is seen, among 100,000 candidates. */
  async many(page) {
    await move(page, "#/candidates");
    // The run behind the page is still being made up when it opens.
    await page.waitForFunction(() => document.querySelector("[data-test=found]")?.textContent.endsWith(" of 100,000"));
    answer({ found: await found(page), took: await page.evaluate(measure) });
  },
};

const text_of = (page, selector) => page.locator(selector).textContent();

/** Runs in the page. */
async function measure() {
  const table = document.querySelector("[data-test=table]");
  const field = document.querySelector("#query");
  const said = () => document.querySelector("[data-test=found]").textContent;
  const frame = () => new Promise((ok) => requestAnimationFrame(() => {
    const painted = new MessageChannel(); // Behind the frame that was drawn.
    painted.port1.onmessage = ok;
    painted.port2.postMessage(0);
  }));
  const idle = () => new Promise((ok) => requestIdleCallback(ok, { timeout: 2000 }));
  const took = {};
  async function time(what, act, done) {
    await idle();
    const start = performance.now();
    act();
    do await frame(); while (!done());
    (took[what] ??= []).push(Math.round(performance.now() - start));
  }
  const here = () => [...table.querySelectorAll(".body .row")].some((r) => Math.abs(r.getBoundingClientRect().top - table.getBoundingClientRect().top) < 60);
  for (let i = 1; i <= 10; ++i) await time("scroll", () => { table.scrollTop = 270_000 * i; }, here);
  for (const query of ["widen", "fitness>0.9", "crashed", "g=70", "optimiser=sgd fitness>0.8", "#9999", ""]) {
    const before = said();
    await time("filter", () => {
      field.value = query;
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }, () => said() !== before);
  }
  for (const column of ["fitness", "parameters", "slot"]) {
    const head = table.querySelector(`.head .c-${column}`);
    await time("sort", () => head.querySelector("button").click(), () => head.getAttribute("aria-sort") === "descending");
  }
  return took;
}

await run_scenario(scenarios, "#time, [data-test=jobs]"); // A run of scripts has no time to go back to.
