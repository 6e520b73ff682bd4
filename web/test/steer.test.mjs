// What one steers jobs and flags by: large maps, saved views, comparisons, charts, and integers of any size. Started by e2e/portal_test.go.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";

import { base, call, ended, inAPI, inProject, launch, open, ownerKey, signIn, test, until } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("200,000 shards are pages, shards and one shard, by keyboard alone", async () => {
  const job = await call("POST", `${inAPI}/jobs`, { function: "bpsw", partition: { kind: "range", from: "18446744073709551629", to: "18446744073709751629", size: "1" }, policy: { quorum: 2 } });
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/jobs/${job.id}`);
  await page.getByText("196 pages of 1024 shards").waitFor();
  const map = page.getByRole("img", { name: /Move with the arrow keys/ });
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForURL("**page=1");
  await page.getByText("Page 1: shards 0 to 1023").waitFor();
  for (const colour of ["duration", "agent", "age"]) {
    const drawn = page.waitForResponse((r) => r.url().includes(`/map?mode=${colour}`) && r.ok());
    await page.getByLabel("Colour").selectOption(colour);
    await drawn;
  }
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /^Shard \d+$/ }).waitFor();
  await context.setOffline(true); // the stream of events is cut
  await page.goBack().catch(() => {});
  await context.setOffline(false);
  await page.goto(`${base}${inProject}/jobs/${job.id}`);
  await call("POST", `${inAPI}/jobs/${job.id}/cancel`);
  await page.getByText("cancelled", { exact: true }).first().waitFor();
  nothingWrong();
  await context.close();
});

test("integers beyond 2^53 keep their digits from the form to the shard", async () => {
  const large = [2n ** 64n + 13n, 2n ** 127n];
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/run?function=echo&kind=items`);
  await page.getByRole("textbox", { name: /^Items/ }).fill(large.join("\n"));
  await page.getByLabel("Policy").selectOption("none");
  assert.equal(new URL(page.url()).searchParams.get("items"), large.join("\n"), "the address has them");
  await page.reload();
  await page.getByRole("button", { name: "Run 2 shards" }).click();
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
  const job = page.url().split("/").at(-1);
  for (const [i, n] of large.entries()) {
    await page.goto(`${base}${inProject}/jobs/${job}/shards/${i}`);
    await page.getByRole("region", { name: "input" }).getByText(String(n), { exact: true }).waitFor();
    await page.getByRole("region", { name: /^output/ }).getByText(String(n)).first().waitFor();
  }
  nothingWrong();
  await context.close();
});

test("a view of jobs is saved, found again and forgotten", async () => {
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/jobs?state=cancelled&function=bpsw`);
  await page.getByText("Saved views").click();
  await page.getByLabel("Name of this view").fill("<b>mine</b>");
  await page.getByRole("button", { name: "Save it" }).click();
  await page.goto(`${base}${inProject}/jobs`);
  await page.getByText("Saved views (1)").click();
  await page.getByRole("link", { name: "<b>mine</b>" }).click();
  await page.waitForURL((u) => u.searchParams.get("state") === "cancelled" && u.searchParams.get("function") === "bpsw");
  await page.getByRole("button", { name: "Forget the view <b>mine</b>" }).click();
  await page.getByText("Saved views (1)").waitFor({ state: "detached" });
  nothingWrong();
  await context.close();
});

/** Pushes a version of a function in which a word has become another one of the same length. */
async function pushChanged(name, from, to) {
  const headers = { Authorization: `Bearer ${ownerKey}` };
  const { digest } = await call("GET", `${inAPI}/functions/${name}`);
  const bundle = gunzipSync(Buffer.from(await (await fetch(`${base}${inAPI}/objects/${digest}`, { headers })).arrayBuffer()));
  const body = gzipSync(Buffer.from(bundle.toString("latin1").replaceAll(from, to), "latin1"));
  const answer = await fetch(`${base}${inAPI}/functions`, { method: "POST", headers: { ...headers, "Content-Type": "application/octet-stream" }, body });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return JSON.parse(text);
}

test("versions of a function are compared line by line", async () => {
  const made = await pushChanged("echo", "Gives back", "Hands back");
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/functions/echo/v/${made.version}`);
  await page.getByLabel("Compare with").selectOption("version 1");
  await page.locator("ins", { hasText: "Hands back what it gets" }).first().waitFor();
  await page.locator("del", { hasText: "Gives back what it gets" }).first().waitFor();
  assert.equal(await page.locator("main script").count(), 0);
  nothingWrong();
  await context.close();
});

/** The flag of a shard whose answers differ, so that a person decides. */
async function flagToDecide() {
  const rolled = await ended({ function: "dice", partition: { kind: "items", values: [7] } });
  return until("the flag of dice", async () => (await call("GET", `${inAPI}/flags?job=${rolled.id}&kind=review`)).items[0]);
}

/** Opens a page in which no decision is sent because ten seconds are over: its timers of that length go off when pass is called. */
async function openOutOfTime(options) {
  const opened = await open(browser, options);
  await opened.page.addInitScript(() => {
    const { setTimeout, clearTimeout } = window;
    const waiting = new Map();
    window.setTimeout = (run, after, ...args) => {
      if (after !== 10_000) return setTimeout(run, after, ...args);
      const id = setTimeout(() => {}, 0);
      waiting.set(id, run);
      return id;
    };
    window.clearTimeout = (id) => {
      waiting.delete(id);
      clearTimeout(id);
    };
    window.pass = () => waiting.forEach((run, id) => {
      waiting.delete(id);
      run();
    });
  });
  const sent = [];
  opened.page.on("request", (r) => {
    if (r.url().endsWith("/resolve") || (r.url().endsWith("/v1/session") && r.method() === "DELETE")) sent.push(r.url().endsWith("/resolve") ? r.url().split("/").at(-2) : "sign out");
  });
  return { ...opened, sent };
}

/** Rejects the flag whose page is open. */
async function reject(page) {
  await page.getByRole("radio", { name: /^reject/ }).waitFor();
  await page.keyboard.press("r");
  await page.getByLabel("Reason").fill("dice");
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("It is sent in 10 seconds.").waitFor();
  await page.locator("h1").click(); // keys are commands where nothing is typed
}

test("versions are compared byte by byte where a file is no text", async () => {
  const made = await pushChanged("echo", "\xff\x01noise", "\xfe\x01noise"); // both decode to the same text
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/functions/echo/v/${made.version}`);
  await page.getByLabel("Compare with").selectOption(`version ${made.version - 1}`);
  await page.getByRole("region", { name: "Changes of noise.bin" }).getByText("binary, 8 bytes before, binary, 8 bytes now").waitFor();
  nothingWrong();
  await context.close();
});

test("a decision is taken back before it is sent", async () => {
  const flag = await flagToDecide();
  const { page, context, nothingWrong, sent } = await openOutOfTime();
  await signIn(page, ownerKey, `${inProject}/review/${flag.id}`);
  await reject(page);
  await page.keyboard.press("u");
  await page.waitForURL(`**/review/${flag.id}`);
  await page.getByRole("radio", { name: /^reject/ }).waitFor();
  await page.evaluate(() => window.pass());
  await page.getByRole("status").getByText("It is sent in 10 seconds.").waitFor({ state: "detached" });
  assert.deepEqual(sent, []);
  await reject(page);
  const answered = page.waitForResponse((r) => r.url().endsWith("/resolve"));
  await page.evaluate(() => window.pass());
  assert.ok((await answered).ok());
  assert.equal((await call("GET", `${inAPI}/flags/${flag.id}`)).state, "resolved");
  nothingWrong();
  await context.close();
});

test("a decision is sent before whoever took it signs out, and one that was not taken stays in sight", async () => {
  const [first, second] = [await flagToDecide(), await flagToDecide()];
  const { page, context, nothingWrong, sent } = await openOutOfTime({ refusals: [412] });
  await page.route(`**/flags/${first.id}/resolve`, (route) => route.fulfill({
    status: 412, contentType: "application/problem+json", body: JSON.stringify({ type: "about:blank", title: "Changed", status: 412, code: "revision_changed", detail: "somebody was faster", request_id: "r" }),
  }));
  await signIn(page, ownerKey, `${inProject}/review/${first.id}`);
  const goTo = (flag) => page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, `${inProject}/review/${flag.id}`);
  await reject(page);
  await goTo(second);
  await page.waitForURL(`**/review/${second.id}`);
  await reject(page);
  const failed = page.getByRole("region", { name: "A decision that was not taken" });
  await failed.getByText("somebody was faster").waitFor();
  assert.match(await failed.getByRole("link").getAttribute("href"), new RegExp(first.id));
  await page.getByRole("button", { name: /^Undo/ }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");
  assert.deepEqual(sent, [first.id, second.id, "sign out"]);
  assert.equal((await call("GET", `${inAPI}/flags/${second.id}`)).state, "resolved");
  await page.getByLabel("API key").fill(ownerKey);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  assert.equal(await failed.count(), 0, "it is nothing to whoever comes next");
  nothingWrong();
  await context.close();
});

test("a decision is sent in nobody else's name", async () => {
  const flag = await flagToDecide();
  const { page, context, nothingWrong, sent } = await openOutOfTime();
  await signIn(page, ownerKey, `${inProject}/review/${flag.id}`);
  await reject(page);
  const other = await call("POST", `${inAPI}/keys`, { name: "other", role: "reviewer" });
  assert.ok((await context.request.post(`${base}/v1/session`, { headers: { Authorization: `Bearer ${other.secret}`, Origin: base } })).ok());
  await page.evaluate(() => window.pass());
  await page.getByRole("region", { name: "A decision that was not taken" }).getByText(/not signed in any more as who has decided/).waitFor();
  assert.deepEqual(sent, []);
  assert.equal((await call("GET", `${inAPI}/flags/${flag.id}`)).state, "open");
  nothingWrong();
  await context.close();
});

test("the overview counts what waits, and not what one page of a list has", async () => {
  const flag = await flagToDecide();
  const { page, context, nothingWrong } = await open(browser);
  await page.route(`**${inAPI}/flags?*`, (route) => route.fulfill({ json: { items: [{ ...flag, kind: "share" }], next_cursor: "more" } }));
  await signIn(page, ownerKey, `${inProject}/overview`);
  await page.getByText(/^\d+ flags? waits? for a person\.$/).waitFor();
  assert.equal(await page.getByText("Nothing needs you.").count(), 0);
  nothingWrong();
  await context.close();
});

test("an agent's page draws its machine, and every page names the versions", async () => {
  const agents = (await call("GET", `${inAPI}/agents`)).items;
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/agents/${agents[0].id}`);
  await page.getByRole("heading", { name: "The machine", exact: true }).waitFor();
  await page.locator("figure canvas").first().waitFor();
  await page.getByLabel("Period").selectOption("7d");
  await page.waitForURL("**period=7d");
  await page.getByText(/^Server /).click();
  await page.getByText(/^Pages [0-9a-f]{8}$/).waitFor();
  nothingWrong();
  await context.close();
});

test("a job gets another priority, and is run once more as it was", async () => {
  const waits = await call("POST", `${inAPI}/jobs`, { function: "echo", partition: { kind: "items", values: [1] }, policy: { quorum: 16 } });
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/jobs/${waits.id}`);
  await page.getByLabel("Priority").selectOption("7");
  await until("its priority", async () => (await call("GET", `${inAPI}/jobs/${waits.id}`)).priority === 7);
  await page.getByRole("button", { name: "As CLI · curl" }).click();
  await page.getByText(`ostraka job rerun ${waits.id}`).waitFor();
  await page.keyboard.press("Escape");
  await call("POST", `${inAPI}/jobs/${waits.id}/cancel`);
  await page.getByRole("button", { name: "Rerun…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run it" }).click();
  await page.waitForURL((u) => /\/jobs\/[0-9a-f-]{36}$/.test(u.pathname) && !u.pathname.endsWith(waits.id));
  const again = await call("GET", `${inAPI}/jobs/${page.url().split("/").at(-1)}`);
  assert.equal(again.rerun_of, waits.id);
  assert.equal(again.priority, 5, "more is for an owner to say");
  assert.deepEqual([again.policy.quorum, again.partition, again.version], [16, (await call("GET", `${inAPI}/jobs/${waits.id}`)).partition, waits.version]);
  await call("POST", `${inAPI}/jobs/${again.id}/cancel`);
  nothingWrong();
  await context.close();
});

test("one sandbox is ended, and what it had is lent again", async () => {
  const job = await call("POST", `${inAPI}/jobs`, { function: "bpsw", partition: { kind: "range", from: "18446744073709551616", to: "18446744074109551616", size: "100000000" }, policy: { quorum: 1 } });
  const box = await until("a sandbox", async () => (await call("GET", `${inAPI}/sandboxes?job=${job.id}&running=true`)).items[0]);
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/agents/${box.agent}`);
  await page.getByRole("row", { name: "running" }).getByRole("button", { name: "End…" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
  await until("its end", async () => (await call("GET", `${inAPI}/sandboxes/${box.id}`)).state === "ended");
  await call("POST", `${inAPI}/jobs/${job.id}/cancel`);
  nothingWrong();
  await context.close();
});

test("sessions are listed, and one is ended from another", async () => {
  const { page: other, context: others } = await open(browser);
  await signIn(other, ownerKey, `${inProject}/agents`);
  const { session } = await other.evaluate(async () => (await fetch("/v1/session")).json());
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/settings`);
  await page.getByText("this one").waitFor();
  await page.getByRole("row").filter({ has: page.getByTitle(session) }).getByRole("button", { name: "End…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
  await page.getByTitle(session).waitFor({ state: "detached" });
  await other.reload();
  await other.getByLabel("API key").waitFor();
  nothingWrong();
  await context.close();
  await others.close();
});

test("one field finds pages, names, IDs and filtered jobs, by keyboard alone", async () => {
  const flag = (await call("GET", `${inAPI}/flags?limit=1&state=resolved`)).items[0] ?? (await flagToDecide());
  const job = await call("POST", `${inAPI}/jobs`, { function: "echo", partition: { kind: "items", values: [1, 2, 3] }, policy: { none: true } });
  const { page, context, nothingWrong } = await open(browser, { refusals: [404] }); // an ID is tried as that of each kind
  await signIn(page, ownerKey, `${inProject}/overview`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const find = async (text, leadsTo) => {
    await page.locator("main").focus();
    await page.keyboard.press("/");
    await page.keyboard.type(text);
    await page.getByRole("listbox", { name: "Found" }).getByRole("option").first().waitFor();
    await until(`the only thing that is called ${text}`, () => page.getByRole("option", { selected: true }).or(page.getByText("Enter looks up this ID.")).count());
    await page.keyboard.press("Enter");
    await page.waitForURL(leadsTo);
  };
  await find("approv", "**/approvals");
  await find("dice", "**/functions/dice");
  await find("state:failed fn:echo", (u) => u.pathname.endsWith("/jobs") && u.searchParams.get("state") === "failed" && u.searchParams.get("function") === "echo");
  await find(flag.id, `**/review/${flag.id}`);
  await find(job.id, `**/jobs/${job.id}`);
  await find("2", `**/jobs/${job.id}/shards/2`);
  await page.keyboard.press("/");
  await page.keyboard.type("<b>nothing</b>");
  await page.getByRole("option").getByText("Nothing found so far").waitFor();
  nothingWrong();
  await context.close();
});
