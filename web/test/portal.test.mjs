// The portal in a real browser, against a real server with agents, one of which lies. Started by e2e/portal_test.go.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { join } from "node:path";

import { base, call, ended, env, inAPI, inProject, launch, open, ownerKey, signIn } from "./browser.mjs";

let browser;
let caught; // a job in which the liar was caught
const pictures = env("OSTRAKA_PICTURES");

const bpsw = { function: "bpsw", partition: { kind: "range", from: "18446744073709551616", to: "18446744073712551616", size: "5000" } };

before(async () => {
  browser = await launch();
  // Where it was lent little it may get away with a job; never with the next ones.
  for (;;) {
    const job = await ended(bpsw);
    const events = await call("GET", `${inAPI}/jobs/${job.id}/event-log?limit=500`);
    if (events.items.some((e) => e.type === "agent_caught")) {
      caught = job;
      return;
    }
  }
});
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
