// Holds pages to the rules of axe-core. It is handed to the page by the debugger's protocol, so that the content security policy stays as
// strict as it is for everybody.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Wants nothing on the page to be in the way of somebody who sees, hears or moves differently, in either theme. */
export async function accessible(page, what) {
  await page.evaluate(source);
  await page.emulateMedia({ colorScheme: "light" });
  await holds(page, `${what}, light`, {});
  await page.emulateMedia({ colorScheme: "dark" });
  await holds(page, `${what}, dark`, { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } }); // only colours are others than by day
}

async function holds(page, what, options) {
  const violations = await page.evaluate(async (options) => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"], ...options });
    return violations.map((v) => ({ rule: v.id, help: v.help, where: v.nodes.slice(0, 5).map((n) => `${n.target.join(" ")}: ${n.failureSummary}`) }));
  }, options);
  assert.deepEqual(violations, [], `${what}: rules of axe that ${page.url()} breaks`);
}
