// What one steers jobs and flags by: large maps, saved views, comparisons, charts, and integers of any size. Started by e2e/portal_test.go.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";

import { base, call, ended, inAPI, inProject, launch, open, ownerKey, signIn } from "./browser.mjs";

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

test("a decision is taken back before it is sent", async () => {
  const rolled = await ended({ function: "dice", partition: { kind: "items", values: [7] } });
  let flags = [];
  while (flags.length === 0) flags = (await call("GET", `${inAPI}/flags?job=${rolled.id}&kind=review`)).items;
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/review/${flags[0].id}`);
  await page.getByRole("radio", { name: /^reject/ }).waitFor();
  const sent = [];
  page.on("request", (r) => { if (r.url().endsWith("/resolve")) sent.push(r.url()); });
  const decide = async () => {
    await page.keyboard.press("r");
    await page.getByLabel("Reason").fill("dice");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("It is sent in ten seconds.").waitFor();
  };
  await decide();
  await page.locator("h1").click();
  await page.keyboard.press("u");
  await page.waitForURL(`**/review/${flags[0].id}`);
  await page.getByRole("radio", { name: /^reject/ }).waitFor();
  assert.deepEqual(sent, []);
  await decide();
  const answered = await page.waitForResponse((r) => r.url().endsWith("/resolve"));
  assert.ok(answered.ok());
  assert.equal((await call("GET", `${inAPI}/flags/${flags[0].id}`)).state, "resolved");
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
