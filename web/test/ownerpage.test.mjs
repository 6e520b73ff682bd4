// The page for the owner of a machine, in a real browser. Started by agent/ownerpage/browser_test.go, which says in the names of projects'
// functions what no page may execute.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { join } from "node:path";

import { env, launch, open } from "./browser.mjs";

const hostile = "<img src=x onerror=\"document.title='broken'\">\\u202e";

let browser;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const phone = { viewport: { width: 360, height: 740 } };

/** Takes a picture, and wants nothing to be wider than the window. */
async function picture(page, name) {
  await page.screenshot({ path: join(env("OSTRAKA_PICTURES"), `owner-${name}.png`), fullPage: true });
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window, `${name}: ${content} pixels wide, and there are ${window}`);
}

test("the owner sees what runs as text, pauses, resumes and sets a preference", async () => {
  const { page, context, nothingWrong } = await open(browser, { refusals: [422] }); // a preference with a mistake is tried
  await page.goto(env("OSTRAKA_LINK"));
  await page.getByText("The agent runs.").waitFor();
  assert.equal(new URL(page.url()).hash, "", "the token stays nowhere");
  for (const name of ["What runs now", "What it did, by day", "What it refused"]) {
    await page.getByRole("table", { name }).getByText(hostile).first().waitFor();
  }
  await page.getByText(`it works ${hostile}`).waitFor();
  assert.equal(await page.locator("main img, main b, main script").count(), 0);
  assert.equal(await page.title(), "This machine’s agent · Ostraka");
  await picture(page, "desktop");
  assert.deepEqual(await context.cookies(), [], "a browser sends cookies to every port of the machine");
  await page.reload();
  await page.getByText("The agent runs.").waitFor();

  await page.getByLabel("Reason").fill("guests <b>are</b> here");
  await page.getByRole("combobox").selectOption("an hour");
  await page.getByRole("button", { name: "Finish, then pause" }).click();
  await page.locator("#code", { hasText: "paused" }).waitFor();
  await page.getByText("guests <b>are</b> here").waitFor();
  assert.ok(await page.getByRole("button", { name: "Pause", exact: true }).isDisabled());
  await page.getByRole("button", { name: "Resume" }).click();
  await page.locator("#code", { hasText: "working" }).waitFor();

  const memory = page.getByLabel(/^memory: /);
  await memory.fill("much");
  await memory.press("Enter");
  await page.getByRole("alert").getByText("write a size").waitFor();
  await memory.fill("4Gi");
  await page.getByRole("button", { name: "Set memory", exact: true }).click();
  await page.getByRole("alert").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Unset memory", exact: true }).click();
  await page.getByRole("button", { name: "Unset memory", exact: true, disabled: true }).waitFor();

  await page.setViewportSize(phone.viewport);
  await picture(page, "phone");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "phone-dark");
  nothingWrong();
  await context.close();
});

test("the link was used", async () => {
  const { page, context, nothingWrong } = await open(browser, { refusals: [403], ...phone });
  await page.goto(env("OSTRAKA_LINK"));
  await page.getByRole("alert").getByText("ostraka agent open").waitFor();
  assert.ok(await page.locator("main").isHidden());
  await picture(page, "stranger");
  nothingWrong();
  await context.close();
});
