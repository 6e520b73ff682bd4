// The one stream of a tab: what it says is shown, it is cut and goes on, and where it does not flow pages ask. Started by e2e/portal_test.go.
import assert from "node:assert/strict";
import { createServer, connect } from "node:net";
import { after, before } from "node:test";

import { base, call, ended, inAPI, inProject, launch, open, ownerKey, signIn, test, until } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** What stands between the browser and the server, and can fail. It keeps the heads of the requests for streams. */
async function between() {
  const sockets = new Set();
  const streams = [];
  const { hostname, port } = new URL(base);
  let refuses = false;
  const proxy = createServer((near) => {
    if (refuses) return near.destroy();
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      if (/^GET \S+\/events\?/m.test(text)) streams.push(text);
    });
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  return {
    base: `http://127.0.0.1:${proxy.address().port}`,
    streams,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    refuse: (now) => { refuses = now; },
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      proxy.close();
    },
  };
}

/** Signs in at another address than that of the server. */
async function signInAt(page, at, to) {
  await page.goto(at + to);
  await page.getByLabel("API key").fill(ownerKey);
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => u.pathname !== "/sign-in");
}

/** Counts the streams that a page has open, and notes where they lead. */
const countStreams = (page) => page.addInitScript(() => {
  const { EventSource } = window;
  window.streams = new Set();
  window.EventSource = class extends EventSource {
    constructor(url) {
      super(url);
      window.streams.add(this);
    }

    close() {
      window.streams.delete(this);
      super.close();
    }
  };
});

/** A job that waits for a person's cancelling: nobody can execute it. */
const endless = (count = 3) => call("POST", `${inAPI}/jobs`, { function: "echo", partition: { kind: "items", values: Array.from({ length: count }, (_, i) => i) }, policy: { quorum: 16 } });

test("a tab has one stream, that of its project, and none while it is paused", async () => {
  const job = await endless();
  const { page, context, nothingWrong } = await open(browser);
  await countStreams(page);
  await signIn(page, ownerKey, `${inProject}/overview`);
  const now = () => page.evaluate(() => [...window.streams].map((s) => s.url));
  await until("the stream", async () => (await now()).length === 1);
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page.locator(`a[href$="${job.id}"]`).click();
  await page.getByRole("heading", { name: /^echo/ }).waitFor();
  const [stream, ...others] = await now();
  assert.deepEqual(others, []);
  assert.match(stream, new RegExp(`/projects/[^/]+/events\\?topics=jobs,flags,agents,job:${job.id}$`));
  await page.getByRole("button", { name: "Live" }).click();
  assert.deepEqual(await now(), []);
  await call("POST", `${inAPI}/jobs/${job.id}/cancel`);
  await until("its end", async () => (await call("GET", `${inAPI}/jobs/${job.id}`)).state === "cancelled");
  await page.locator("main").getByText("running", { exact: true }).first().waitFor(); // as it was
  await page.getByRole("button", { name: "Paused" }).click();
  await page.locator("main").getByText("cancelled", { exact: true }).first().waitFor();
  await until("the stream of a job that has ended says nothing of it", async () => (await now()).every((s) => !s.includes(job.id)));
  nothingWrong();
  await context.close();
});

test("what the stream says is shown without asking again, and a cut one goes on where it was", async () => {
  const job = await endless();
  const proxy = await between();
  const { page, context } = await open(browser); // requests that a cut proxy does not answer are errors of the console
  await signInAt(page, proxy.base, `${inProject}/jobs/${job.id}`);
  await page.getByRole("heading", { name: /^echo/ }).waitFor();
  await until("the stream", () => proxy.streams.length > 0);
  const before = proxy.streams.length;
  proxy.cut();
  await until("the next stream", () => proxy.streams.slice(before).some((head) => /^Last-Event-ID: [0-9a-f]{8}-\d+\r$/im.test(head)));
  await page.route("**/v1/projects/*/jobs/*", (route) => route.abort()); // only the stream can say it now
  await call("POST", `${inAPI}/jobs/${job.id}/cancel`);
  await page.locator("main").getByText("cancelled", { exact: true }).first().waitFor();
  await context.close();
  proxy.close();
});

test("pages ask where no stream is to be had", async () => {
  const job = await endless();
  const { page, context } = await open(browser);
  await page.route("**/events?topics=*", (route) => route.abort());
  await signIn(page, ownerKey, `${inProject}/jobs/${job.id}`);
  await page.getByRole("heading", { name: /^echo/ }).waitFor();
  await call("POST", `${inAPI}/jobs/${job.id}/cancel`);
  await page.locator("main").getByText("cancelled", { exact: true }).first().waitFor();
  await context.close();
});

test("a server that is away is waited for, and everything is read again from the next one", async () => {
  const job = await endless();
  const proxy = await between();
  const { page, context } = await open(browser);
  await signInAt(page, proxy.base, `${inProject}/jobs/${job.id}`);
  await page.getByRole("heading", { name: /^echo/ }).waitFor();
  proxy.refuse(true);
  proxy.cut();
  await page.getByRole("alert").getByText("No answer").first().waitFor();
  assert.ok(await page.getByRole("heading", { name: /^echo/ }).isVisible(), "what was read stays in sight");
  await call("POST", `${inAPI}/jobs/${job.id}/cancel`);
  proxy.refuse(false);
  await page.locator("main").getByText("cancelled", { exact: true }).first().waitFor();
  await page.getByRole("alert").first().waitFor({ state: "detached" });
  await context.close();
  proxy.close();
});

test("a session that is ended elsewhere leads to the sign-in page", async () => {
  const proxy = await between();
  const { page, context } = await open(browser);
  await signInAt(page, proxy.base, `${inProject}/agents`);
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  const { session } = await page.evaluate(async () => (await fetch("/v1/session")).json());
  await call("DELETE", `/v1/sessions/${session}`);
  proxy.cut(); // the next request is refused
  await page.waitForURL("**/sign-in?*");
  await page.getByLabel("API key").fill(ownerKey);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${inProject}/agents`);
  await context.close();
  proxy.close();
});

test("lines of a megabyte are shown as text, and the page stays narrow", async () => {
  const job = await ended({ function: "echo", partition: { kind: "items", values: ["long"] }, policy: { quorum: 1, max_attempts: 1 } });
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/jobs/${job.id}/shards/0`);
  await page.getByRole("region", { name: /^exception/ }).first().getByText("<b>y</b>").waitFor();
  await page.getByText("Printed", { exact: true }).first().click();
  await page.getByRole("region", { name: /^stdout/ }).first().getByText("<b>x</b>").waitFor();
  assert.equal(await page.locator("main pre b").count(), 0);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
  nothingWrong();
  await context.close();
});
