// What the scenarios of pages in a real browser share.
//
// usage: node SCENARIOS.mjs PLAYWRIGHT ADDRESS SCENARIO      a line of JSON on standard output for each answer, a line on
// standard input for each step; what the browser complained of is told last

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const [playwright, at, name] = process.argv.slice(2);
const { chromium } = await import(playwright);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export const address = at;
export const answer = (what) => console.log(JSON.stringify(what));
export const step = async () => (await lines.next()).value;

// No test takes a tenth of this where nothing is wrong.
export const patience = 60_000;

export const text = (page, test) => page.locator(`[data-test=${test}]`).textContent();
export const move = (page, hash) => page.evaluate((to) => { location.hash = to; }, hash);

/** Returns what axe-core has against the page as it is. */
export async function axe_says(page) {
  await page.evaluate(readFileSync(fileURLToPath(new URL("../axe-core/axe.min.js", `file://${playwright}`)), "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run(document));
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary}`));
}

/** Returns where the Tab key leads, until it begins again. */
export async function walk(page) {
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  const stops = [];
  for (let i = 0; i < 200; ++i) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body || e.dataset.walked) return null;
      e.dataset.walked = "yes";
      const style = getComputedStyle(e);
      const rect = e.querySelector("rect");
      const name = e.getAttribute("aria-label") ?? (e.labels?.[0]?.textContent || e.textContent || "");
      return {
        what: e.tagName.toLowerCase(), name: name.trim().slice(0, 60),
        visible: (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) || (rect !== null && parseFloat(getComputedStyle(rect).strokeWidth) >= 3),
      };
    });
    if (!stop) break;
    stops.push(stop);
  }
  return stops;
}

/** Runs the scenario that is named on the command line, once the page shows what `ready` selects. */
export async function run_scenario(scenarios, ready) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const complaints = [];
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(patience);
    page.on("console", (m) => ["error", "warning"].includes(m.type()) && complaints.push(m.text()));
    page.on("pageerror", (e) => complaints.push(String(e)));
    page.on("request", (r) => new URL(r.url()).origin !== new URL(address).origin && complaints.push(`asked ${r.url()}`));
    await page.goto(address);
    await page.waitForSelector(ready);
    await scenarios[name](page);
  } finally {
    await browser.close();
  }
  answer({ complaints });
  process.exit(0);
}
