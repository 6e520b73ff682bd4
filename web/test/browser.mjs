// What the tests of the portal share: a browser that reports whatever a page does that it must not.
import assert from "node:assert/strict";
import { test as testOfNode } from "node:test";

import { chromium } from "playwright-core";

export const env = (name) => process.env[name] ?? assert.fail(`${name} is not set: go test ./e2e -run TestPortal sets it`);
export const base = env("OSTRAKA_URL");
export const project = env("OSTRAKA_PROJECT");
export const ownerKey = env("OSTRAKA_KEY");
export const inProject = `/p/${project}`;

export const patience = 180_000; // ms until a condition is given up

/** How long one test, or what stands before all of them, may take, in ms. */
export const cutOffAfter = 600_000;

/** A test that is cut off, by its name, before the whole of them is: node names only the file of one that hangs. */
export const test = (name, run) => testOfNode(name, { timeout: cutOffAfter }, run);

/** Asks until the answer is something that is there. */
export async function until(what, ask) {
  for (const end = Date.now() + patience; Date.now() < end; await new Promise((done) => setTimeout(done, 250))) {
    const answer = await ask();
    if (answer) return answer;
  }
  assert.fail(`${what}: not within ${patience / 1000} s`);
}

export const launch = () => chromium.launch({ executablePath: env("OSTRAKA_CHROMIUM"), args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** Opens a page that notes errors, violations of the content security policy and requests to other hosts; not answers that are to refuse. */
export async function open(browser, { refusals = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  const expected = new RegExp(`the server responded with a status of (${[401, ...refusals].join("|")})|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION|ERR_INCOMPLETE_CHUNKED`);
  page.on("console", (m) => {
    // Who nobody is, the page learns by asking; the browser reports the answer 401 as an error.
    if (m.type() === "error" && !expected.test(m.text())) wrong.push(`console: ${m.text()}`);
  });
  page.on("request", (r) => {
    if (new URL(r.url()).origin !== new URL(base).origin && !/^(data|blob|about):/.test(r.url())) wrong.push(`another host: ${r.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`));
  });
  return { page, context, nothingWrong: () => assert.deepEqual(wrong, [], `at ${page.url()}`) };
}

/** Signs in with a key, by keyboard. */
export async function signIn(page, key, to = "/") {
  await page.goto(base + to);
  await page.getByLabel("API key").waitFor();
  await page.keyboard.type(key);
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => u.pathname !== "/sign-in");
}

/** Calls the API as a program would. */
export async function call(method, path, body, key = ownerKey) {
  const answer = await fetch(base + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

export const inAPI = `/v1/projects/${project}`;

/** Submits a job and waits until it has ended. */
export async function ended(request) {
  const made = await call("POST", `${inAPI}/jobs`, request);
  for (;;) {
    const job = await call("GET", `${inAPI}/jobs/${made.id}?wait=60s`);
    if (["finished", "failed", "cancelled"].includes(job.state) || job.shards.review > 0) return job;
  }
}

export const bpsw = { function: "bpsw", partition: { kind: "range", from: "18446744073709551616", to: "18446744073712551616", size: "5000" } };

/** A job in which the liar was caught, with who that is and a shard that proves it. Jobs are run until there is one. */
export async function caughtJob() {
  for (;;) {
    const caught = (await call("GET", `${inAPI}/agents`)).items.filter((a) => a.caught_at);
    for (const { id } of caught) {
      for (const proof of (await call("GET", `${inAPI}/flags?kind=mismatch&agent=${id}`)).items) {
        if (!proof.job || proof.shard === undefined) continue;
        const { items } = await call("GET", `${inAPI}/jobs/${proof.job}/event-log?limit=500`);
        if (items.some((e) => e.type === "agent_caught")) return { job: proof.job, shard: proof.shard, agent: id };
      }
    }
    // Where it was lent little it may get away with a job; never with the next ones.
    await ended(bpsw);
  }
}
