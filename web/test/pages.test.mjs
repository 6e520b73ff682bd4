// Every page of the portal, in both themes, under axe-core. Started by e2e/portal_test.go.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";

import { accessible } from "./axe.mjs";
import { base, call, caughtJob, cutOffAfter, ended, env, inAPI, inProject, launch, open, ownerKey, signIn, test } from "./browser.mjs";

let browser;
let ofProject; // addresses by the route that they are of
const ofInstallation = { "/system": "/system", "/guardian": "/guardian", "/approvals": "/approvals", "/audit": "/audit", "/bulk": "/bulk" };

/** Makes one of everything that has a page. */
async function oneOfEach() {
  const { job, agent } = await caughtJob();
  const rolled = await ended({ function: "dice", partition: { kind: "items", values: [1, 2] } });
  let flags = [];
  while (flags.length === 0) flags = (await call("GET", `${inAPI}/flags?job=${rolled.id}&kind=review`)).items;
  const made = (path, name, body) => call("GET", `${inAPI}/${path}`).then(({ items }) => items.find((i) => (i.name ?? i.spec?.name) === name) ?? call("POST", `${inAPI}/${path}`, body));
  const schedule = await made("schedules", "seen", { name: "seen", cron: "7 * * * *", time_zone: "Europe/Berlin", job: { function: "echo", partition: { kind: "items", values: [1] }, policy: { none: true } } });
  const webhook = await made("webhooks", "seen", { name: "seen", url: "https://127.0.0.1:9/", kinds: ["job.finished"] });
  const run = await call("POST", `${inAPI}/workflows/bpsw/runs`, { parameters: { from: "10000000000000013", length: "1000", size: "500" } });
  await ended({ function: "echo", partition: { kind: "items", values: [1] }, policy: { none: true } });
  const bulk = await call("POST", `${inAPI}/bulk-actions`, { subject: "jobs", action: "archive", filter: { function: "echo", state: "finished" }, reason: "a look" });
  const module = (await call("GET", `${inAPI}/modules`)).items[0];
  return {
    "/overview": "/overview", "/jobs": "/jobs", "/jobs/$job": `/jobs/${job}`, "/jobs/$job/shards/$shard": `/jobs/${job}/shards/0`,
    "/review": "/review", "/review/$flag": `/review/${flags[0].id}`, "/agents": "/agents", "/agents/$agent": `/agents/${agent}`,
    "/functions": "/functions", "/functions/$name": "/functions/echo", "/functions/$name/v/$version": "/functions/echo/v/1", "/run": "/run?function=echo&kind=items&items=1", "/bpsw": "/bpsw",
    "/push": "/push", "/modules": "/modules", "/modules/$name": `/modules/${module.name}`, "/rules": "/rules", "/schedules": "/schedules", "/schedules/$schedule": `/schedules/${schedule.id}`,
    "/workflows": "/workflows", "/workflows/$name": "/workflows/bpsw", "/workflow-runs/$run": `/workflow-runs/${run.id}`, "/webhooks": "/webhooks", "/webhooks/$webhook": `/webhooks/${webhook.id}`,
    "/guardian": "/guardian", "/approvals": "/approvals", "/audit": "/audit", "/bulk": "/bulk", "/bulk/$bulk": `/bulk/${bulk.id}`, "/archives": "/archives", "/runtimes": "/runtimes", "/settings": "/settings",
  };
}

before(async () => {
  browser = await launch();
  ofProject = await oneOfEach();
}, { timeout: cutOffAfter });
after(() => browser?.close());

test("no route is left out", () => {
  const router = readFileSync(new URL("../src/router.tsx", import.meta.url), "utf8");
  const routes = new Set([...router.matchAll(/path: "([^"]+)"/g)].map((m) => m[1]));
  const seen = new Set([...Object.keys(ofProject), ...Object.keys(ofInstallation), "/", "/sign-in", "/p/$project"]); // "/" and the project's lead on
  assert.deepEqual([...routes].filter((r) => !seen.has(r)), []);
});

/** Waits until a page shows what it is about. */
async function shown(page) {
  await page.locator("main h1").first().waitFor();
  await page.locator('main [aria-label="Loading"]').first().waitFor({ state: "detached" });
}

test("every page of a project, in both themes", async () => {
  const { page, context, nothingWrong } = await open(browser, { refusals: [409] }); // nobody has asked for the job's receipt, unless a test before has
  await page.goto(base);
  await page.getByLabel("API key").waitFor();
  await accessible(page, "signing in");
  await signIn(page, ownerKey, `${inProject}/overview`);
  const wrong = [];
  const look = async (at, what) => {
    await page.goto(base + inProject + at);
    await shown(page);
    await accessible(page, what).catch((e) => wrong.push(e.message));
  };
  for (const [route, at] of Object.entries(ofProject)) await look(at, route);
  for (const tab of ["shards", "answer", "events", "metrics", "chain"]) await look(`${ofProject["/jobs/$job"]}?tab=${tab}`, `the tab ${tab}`);
  await look("/nowhere", "an address without a page");
  assert.deepEqual(wrong, []);
  nothingWrong();
  await context.close();
});

test("every page of the installation, in both themes", async () => {
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, env("OSTRAKA_OPERATOR_KEY"), "/system");
  const wrong = [];
  for (const [route, at] of Object.entries(ofInstallation)) {
    await page.goto(base + at);
    await shown(page);
    await accessible(page, `${route} of the installation`).catch((e) => wrong.push(e.message));
  }
  assert.deepEqual(wrong, []);
  nothingWrong();
  await context.close();
});

test("a dialog that asks, and the calls of a page", async () => {
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/settings`);
  await page.getByRole("button", { name: "Stop everything…" }).click();
  await page.getByRole("dialog").waitFor();
  await accessible(page, "a dialog");
  await page.keyboard.press("Escape");
  await page.goto(`${base}${inProject}/jobs`);
  await page.getByRole("button", { name: "As CLI · curl" }).click();
  await page.getByText("On the command line").waitFor();
  await accessible(page, "the calls of a page");
  nothingWrong();
  await context.close();
});
