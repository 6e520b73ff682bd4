// The portal in a real browser, against a real server with agents, one of which lies. Started by e2e/portal_test.go.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { join } from "node:path";

import { base, call, caughtJob, cutOffAfter, ended, env, inAPI, inProject, launch, open, ownerKey, signIn, test } from "./browser.mjs";

let browser;
let caught; // a job in which the liar was caught
const pictures = env("OSTRAKA_PICTURES");

before(async () => {
  browser = await launch();
  caught = await call("GET", `${inAPI}/jobs/${(await caughtJob()).job}`);
}, { timeout: cutOffAfter });
after(() => browser?.close());

test("the job page shows who lied, in both themes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, context, nothingWrong } = await open(browser, { colorScheme });
    await signIn(page, ownerKey, `${inProject}/jobs/${caught.id}`);
    await page.getByRole("heading", { name: /Caught lying: .*liar/ }).waitFor();
    await page.getByText("✓ stands").waitFor();
    await page.getByText("where a lie was found out").waitFor();
    await page.screenshot({ path: join(pictures, `job-${colorScheme}.png`) });
    await page.getByRole("link", { name: "See the proof" }).click();
    await page.getByText("A wrong answer").waitFor();
    await page.screenshot({ path: join(pictures, `shard-${colorScheme}.png`) });
    nothingWrong();
    await context.close();
  }
});

test("what others write is shown as text", async () => {
  const job = await ended({ function: "echo", partition: { kind: "items", values: ["<b>bold</b>\u202e", "fail"] }, policy: { quorum: 1, max_attempts: 1 } });
  const { page, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/jobs/${job.id}/shards/0`);
  await page.getByRole("region", { name: "input" }).getByText("<b>bold</b>\\u202e").waitFor();
  await page.getByRole("region", { name: "output" }).first().getByText("<h1>big</h1>").waitFor();
  assert.equal(await page.locator("main pre b, main pre h1, main pre img").count(), 0);
  await page.goto(`${base}${inProject}/jobs/${job.id}/shards/1`);
  await page.getByText("<script>document.title='broken'</script>\\u202e").first().waitFor();
  assert.equal(await page.title(), "Ostraka");
  await page.goto(`${base}${inProject}/functions/echo/v/1`);
  await page.getByText("<script>alert(1)</script>").waitFor();
  nothingWrong();
});

test("a session that has ended leads back to where one was", async () => {
  const { page, context } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/agents`);
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await context.clearCookies();
  await page.reload();
  await page.getByLabel("API key").fill(ownerKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`**${inProject}/agents`);
});

test("the problem of a request is shown with what to do next", async () => {
  const { page } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/jobs`);
  await page.goto(`${base}${inProject}/run?function=bpsw&from=1&to=10^15&size=1`);
  await page.getByRole("alert").getByText("Next:").waitFor();
});

test("a rule is tried and published, what it asks about is approved, and the log proves it", async () => {
  const { page, nothingWrong } = await open(browser, { refusals: [422] }); // a rule with a mistake is written first
  await signIn(page, ownerKey, `${inProject}/guardian`);
  await page.getByRole("heading", { name: "Guardian" }).waitFor();
  await page.getByText("no-shutdown").waitFor();
  await page.screenshot({ path: join(pictures, "guardian-light.png") });

  const write = (rule) => page.locator("textarea").fill(JSON.stringify(rule));
  const rule = { name: "three-at-a-time", on: ["job.submit"], when: 'code.name == "echo" && job.shards == 3', then: "ask", reason: "<i>three</i> at a time want a look" };
  await write({ ...rule, when: "job.shads == 3" });
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByRole("alert").getByText('did you mean "shards"', { exact: false }).waitFor();
  await write(rule);
  assert.ok(await page.getByRole("button", { name: "Publish it" }).isDisabled(), "a rule is tried before it is published");
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByRole("status").getByText("decision").waitFor();
  await page.getByRole("button", { name: "Publish it" }).click();
  await page.getByRole("cell", { name: "<i>three</i> at a time want a look" }).waitFor(); // in the list, and not where it was typed

  const job = await call("POST", `${inAPI}/jobs`, { function: "echo", partition: { kind: "items", values: [1, 2, 3] }, policy: { none: true } });
  await page.getByRole("link", { name: "Approvals" }).first().click();
  const waiting = page.locator("section", { hasText: job.id });
  await waiting.getByText("three-at-a-time").waitFor();
  await page.screenshot({ path: join(pictures, "approvals-light.png") });
  await waiting.getByRole("button", { name: "Approve…" }).click();
  const dialog = page.getByRole("dialog", { name: "Approve job.submit?" });
  await dialog.getByLabel("Reason").fill("talked to Ann");
  await dialog.getByRole("button", { name: "Approve it" }).click();
  await page.getByText("Nothing waits for anybody's yes.").waitFor();
  const done = await call("GET", `${inAPI}/jobs/${job.id}?wait=60s`);
  assert.notEqual(done.state, "cancelled");

  await page.goto(`${base}${inProject}/audit?action=guardian.decide&decision=ask`);
  const record = page.getByRole("row", { name: "guardian.decide" }).first();
  for (;;) { // it is sealed within some seconds
    await record.waitFor();
    if ((await record.getByRole("cell").first().textContent()) !== "–") break;
    await page.reload();
  }
  await record.getByText("detail and proof").click();
  await record.getByRole("button", { name: "Verify in this browser" }).click();
  await record.getByText("The proof holds").waitFor();
  await page.screenshot({ path: join(pictures, "audit-light.png") });
  await page.route(`**/audit/records/*`, async (route) => {
    const answer = await route.fetch();
    const text = await answer.text();
    await route.fulfill({ response: answer, body: text.replaceAll("ask", "sak") });
  });
  await record.getByRole("button", { name: "Verify in this browser" }).click();
  await record.getByRole("alert").waitFor();

  await page.goto(`${base}${inProject}/jobs/${caught.id}?tab=metrics`);
  await page.getByText("Executions for a shard").waitFor();
  await page.goto(`${base}${inProject}/jobs/${caught.id}?tab=chain`);
  await page.getByRole("heading", { name: "What rules came to" }).waitFor();
  nothingWrong();
});

test("a schedule is run, paused and deleted", async () => {
  const spec = { name: "hourly", cron: "7 * * * *", time_zone: "Europe/Berlin", job: { function: "echo", partition: { kind: "items", values: [1, 2] }, policy: { none: true } } };
  await call("POST", `${inAPI}/schedules`, spec);
  const { page, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/schedules`);
  await page.getByRole("row", { name: "hourly" }).getByText("7 * * * *").waitFor();
  await page.getByRole("link", { name: "hourly" }).click();
  await page.getByText("the next time is skipped").waitFor();
  const decide = async (label, confirm) => {
    await page.getByRole("button", { name: label }).click();
    await page.getByRole("dialog").getByRole("button", { name: confirm }).click();
  };
  await decide("Run now…", "Run it");
  const firing = page.getByRole("row", { name: "by hand" });
  await firing.getByText("submitted").waitFor();
  await page.screenshot({ path: join(pictures, "schedule-light.png") });
  const job = await firing.getByRole("link").textContent();
  assert.equal((await call("GET", `${inAPI}/jobs/${job}`)).function, "echo");
  await decide("Pause…", "Pause it");
  await page.getByText("paused", { exact: true }).waitFor();
  await decide("Resume…", "Resume it");
  await page.getByText("on", { exact: true }).waitFor();
  await decide("Delete…", "Delete it");
  await page.getByText("No schedule yet.").waitFor();
  nothingWrong();
});

test("a webhook is tested, its body is shown, and it is deleted", async () => {
  const receiver = createServer((request, response) => request.resume().on("end", () => response.writeHead(204).end()));
  await new Promise((listening) => receiver.listen(0, "127.0.0.1", listening));
  const made = await call("POST", `${inAPI}/webhooks`, { name: "chat", url: "https://127.0.0.1:9/<b>hook</b>", kinds: ["job.finished"] });
  const { page, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/webhooks`);
  await page.getByRole("row", { name: "chat" }).getByText("https://127.0.0.1:9/").waitFor();
  await page.getByRole("link", { name: "chat" }).click();
  const decide = async (label, confirm) => {
    await page.getByRole("button", { name: label }).click();
    await page.getByRole("dialog").getByRole("button", { name: confirm }).click();
  };
  await decide("Test…", "Send it");
  const sent = page.getByRole("row", { name: "webhook.test" });
  await sent.getByText("waiting").waitFor(); // nobody listens there
  await sent.getByText("body").click();
  await sent.getByRole("region", { name: "body" }).getByText('"type": "webhook.test"').waitFor();
  await call("PATCH", `${inAPI}/webhooks/${made.id}`, { url: `http://127.0.0.1:${receiver.address().port}/` });
  await sent.getByText("delivered").waitFor();
  assert.equal(await sent.getByText(/^again/).count(), 0, "what has arrived is not tried again");
  await page.screenshot({ path: join(pictures, "webhook-light.png") });
  await page.getByRole("button", { name: "Change…" }).click();
  await page.getByRole("dialog").getByRole("checkbox", { name: "flag.raised" }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Change it" }).click();
  await page.getByText("flag.raised, job.finished").waitFor();
  await page.getByText(`127.0.0.1:${receiver.address().port}`).first().waitFor(); // what somebody else changed meanwhile stays
  await decide("New secret…", "Make it");
  await page.getByRole("region", { name: "new secret" }).getByText(/^whsec_/).waitFor();
  await decide("Pause…", "Pause it");
  await page.getByText("paused", { exact: true }).waitFor();
  await decide("Delete…", "Delete it");
  await page.getByText("No webhook yet.").waitFor();
  receiver.close();
  nothingWrong();
});

test("a workflow is started with an integer beyond 2^53, and ends", async () => {
  const { page, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/workflows`);
  await page.getByRole("link", { name: "bpsw", exact: true }).click();
  await page.getByText("search.primes = count.primes").first().waitFor();
  // Its name is one of ours as well.
  assert.match(await page.getByRole("navigation", { name: "Where you are" }).innerText(), /Workflows\s*bpsw$/);
  await page.getByLabel(/^from/).fill("10^16+13");
  await page.getByLabel(/^length/).fill("10^3");
  await page.getByLabel(/^size/).fill("500");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: "Run", exact: true }).waitFor();
  await page.getByRole("region", { name: "parameters" }).getByText('"10000000000000013"').waitFor();
  await page.getByText("finished", { exact: true }).first().waitFor();
  for (const step of ["search", "count", "same"]) await page.getByRole("row", { name: step }).getByText("finished").first().waitFor();
  await page.screenshot({ path: join(pictures, "workflow-run-light.png") });
  await page.goto(`${base}${inProject}/workflows`);
  await page.getByText("from=10000000000000013").waitFor();
  nothingWrong();
});

test("that the log began anew is shown, and its records are proven from then on", async () => {
  await call("POST", `${inAPI}/audit/restart`, { reason: "restored <b>the backup</b>" });
  const { page, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/audit?action=audit.restart`);
  await page.getByRole("heading", { name: "The log began anew" }).waitFor();
  await page.getByRole("cell", { name: "restored <b>the backup</b>" }).first().waitFor();
  const record = page.getByRole("row", { name: "audit.restart" }).first();
  await record.getByText("detail and proof").click();
  await record.getByRole("button", { name: "Verify in this browser" }).click();
  await record.getByText("The proof holds").waitFor();
  nothingWrong();
});

test("flags that are alike are decided together, and jobs deleted", async () => {
  const rolled = await ended({ function: "dice", partition: { kind: "items", values: [1, 2, 3] } });
  const openFlags = async () => (await call("GET", `${inAPI}/flags?job=${rolled.id}&kind=review`)).items;
  let flags = await openFlags();
  for (; flags.length < 3; flags = await openFlags()) await new Promise((soon) => setTimeout(soon, 500));
  const { page, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/review/${flags[0].id}`);
  await page.getByRole("radio", { name: /^reject/ }).check();
  await page.getByRole("checkbox", { name: /Apply to 3 like this/ }).check();
  await page.getByLabel("Reason").fill("dice never agree");
  await page.getByRole("button", { name: "Reject 3 flags" }).press("Enter");
  await page.waitForURL("**/bulk/*");
  await page.getByText("3 of 3 done").waitFor();
  await page.getByText("finished", { exact: true }).waitFor();
  await page.getByText("Nothing has failed.").waitFor();
  await page.screenshot({ path: join(pictures, "bulk-light.png") });
  assert.equal((await openFlags()).length, 0);
  while ((await call("GET", `${inAPI}/jobs/${rolled.id}`)).state !== "failed") await new Promise((soon) => setTimeout(soon, 500));

  await page.goto(`${base}${inProject}/jobs?function=dice&state=failed`);
  await page.getByRole("button", { name: "Delete all…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 job matches now.").waitFor();
  await dialog.getByLabel("Reason").fill("tidy");
  await dialog.getByRole("button", { name: "Begin" }).click();
  await page.getByText("1 of 1 done").waitFor();
  await page.getByRole("link", { name: "Bulk actions" }).first().click();
  await page.getByRole("link", { name: "delete 1 job" }).waitFor();
  assert.equal(await page.getByRole("progressbar").count(), 2);
  nothingWrong();
});

test("pages say what there is not yet, and how to make it", async () => {
  const { page, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/archives`);
  await page.getByText("No job is an archive yet.").waitFor();
  await page.getByRole("link", { name: "Runtimes" }).click();
  await page.getByText("No runtime of this project's own.").waitFor();
  nothingWrong();
});

test("a phone shows all of a page, and lets one go", async () => {
  await call("POST", `${inAPI}/webhooks`, { name: "phone", url: "https://127.0.0.1:9/", kinds: ["flag.raised"] });
  const { page, nothingWrong } = await open(browser, { viewport: { width: 390, height: 844 } });
  await signIn(page, ownerKey, `${inProject}/webhooks`);
  await page.getByRole("link", { name: "phone" }).click();
  await page.getByText("Nothing yet.").waitFor();
  for (const to of ["webhooks", "schedules", "workflows", "audit", "bulk", "archives", "runtimes"]) {
    await page.goto(`${base}${inProject}/${to}`);
    await page.locator("main h1").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${to}: tables scroll, and not the page`);
  }
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in*");
  nothingWrong();
});

test("operators see the rules and approvals of the installation", async () => {
  const { page, nothingWrong } = await open(browser);
  await signIn(page, env("OSTRAKA_OPERATOR_KEY"), "/guardian");
  await page.getByText("no-shutdown").waitFor();
  await page.getByRole("link", { name: "Approvals" }).first().click();
  await page.getByText("Nothing waits for anybody's yes.").waitFor();
  await page.getByRole("link", { name: "Audit log" }).click();
  const made = page.getByRole("row", { name: "project.create" }).first();
  await made.getByText("detail and proof").click();
  await made.getByRole("button", { name: "Verify in this browser" }).click();
  await made.getByText("The proof holds:").waitFor();
  await page.goto(`${base}/system`);
  await page.getByText("Last backup").waitFor();
  await page.screenshot({ path: join(pictures, "system-light.png") });
  await page.getByRole("button", { name: "Drain all…" }).click();
  await page.getByRole("dialog").getByText(/match(es)? now/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Keep as it is" }).click();
  nothingWrong();
});
