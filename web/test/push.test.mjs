// Functions and modules are pushed in the browser, and receipts are verified there. Started by e2e/portal_test.go.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";

import { call, ended, inAPI, inProject, launch, open, ownerKey, signIn, test, until } from "./browser.mjs";

let browser;
let folder; // of a function
before(async () => {
  browser = await launch();
  folder = join(mkdtempSync(join(tmpdir(), "ostraka-push-")), "given");
  cpSync(new URL("./dice", import.meta.url).pathname, folder, { recursive: true });
});
after(() => browser?.close());

const newest = (name) => call("GET", `${inAPI}/functions/${name}`);

test("a folder, a zip and a tar of the same files are the version that the command line makes", async () => {
  const pushed = await newest("dice");
  const packed = (command, ...args) => execFileSync(command, args, { cwd: folder, stdio: "pipe" });
  packed("tar", "-czf", "../given.tgz", ".");
  packed("python3", "-m", "zipfile", "-c", "../given.zip", "function.toml", "main.py");
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/functions`);
  for (const [label, chosen] of [["Folder", folder], ["Files or an archive", `${folder}.tgz`], ["Files or an archive", `${folder}.zip`], ["Files or an archive", [join(folder, "main.py"), join(folder, "function.toml")]]]) {
    await page.goto(new URL(`${inProject}/push`, page.url()).href);
    await page.getByLabel(label).setInputFiles(chosen);
    await page.getByRole("table", { name: "Files to push" }).getByText("function.toml").waitFor();
    await page.getByRole("button", { name: "Push 2 files" }).click();
    await page.waitForURL(`**/functions/dice/v/${pushed.version}`);
  }
  assert.equal((await newest("dice")).digest, pushed.digest, "it is the same bundle, to the byte");
  nothingWrong();
  await context.close();
});

test("one file is a function, and files without function.toml are none", async () => {
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/push`);
  const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  const files = page.getByLabel("Files or an archive");
  await files.setInputFiles([file("a.txt", "x"), file("<img src=x>.py", "y")]);
  await page.getByRole("alert").getByText("There is no function.toml").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await files.setInputFiles(file("one_file.py", "def handler(shard):\n    return shard\n"));
  await page.getByRole("button", { name: "Push 2 files" }).click();
  await page.waitForURL("**/functions/one-file/v/1");
  nothingWrong();
  await context.close();
});

test("a module shows what it imports, is pushed and tried", async () => {
  const { page, context, nothingWrong } = await open(browser);
  await signIn(page, ownerKey, `${inProject}/push`);
  const wasm = readFileSync(new URL("../../examples/modules/stats/stats.wasm", import.meta.url));
  const file = page.getByLabel("File", { exact: true });
  // (module (import "env" "net" (func)))
  const greedy = Buffer.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 11, 1, 3, 101, 110, 118, 3, 110, 101, 116, 0, 0]);
  await file.setInputFiles({ name: "greedy.wasm", mimeType: "application/wasm", buffer: greedy });
  await page.getByText("env.net").waitFor();
  await page.getByRole("alert").getByText("the server refuses the module").waitFor();
  assert.ok(await page.getByRole("button", { name: "Push the module" }).isDisabled());
  await file.setInputFiles({ name: "tried.wasm", mimeType: "application/wasm", buffer: wasm });
  await page.getByText("wasi_snapshot_preview1.fd_write").waitFor();
  await page.getByLabel("Name").fill("tried");
  await page.getByRole("button", { name: "Push the module" }).click();
  await page.waitForURL("**/modules/tried");
  await page.getByLabel("Records").fill('{"shard": 0, "output": {"<b>x</b>": 1}}');
  await page.getByRole("button", { name: "Run the trial" }).click();
  await page.getByRole("status").getByText(/^(it holds|it failed|it does not keep the rules)$/).waitFor();
  assert.equal(await page.locator("main pre b").count(), 0);
  nothingWrong();
  await context.close();
});

test("a receipt is made, downloaded and verified, and one that was changed is refused", async () => {
  const job = await ended({ function: "echo", partition: { kind: "items", values: [1, 2, 3, 4, 5] }, policy: { quorum: 1 } });
  const { page, context, nothingWrong } = await open(browser, { refusals: [409] }); // nobody has asked for it yet
  await signIn(page, ownerKey, `${inProject}/jobs/${job.id}?tab=answer`);
  await page.getByRole("button", { name: "Make the receipt" }).click();
  await page.getByRole("button", { name: "Verify in this browser" }).click();
  await page.getByRole("status").getByText("The receipt holds:").waitFor();
  await page.getByText(/its 5 lines of shards/).waitFor();
  await page.getByText(/the key is the receipt's own/).waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download it" }).click();
  const file = readFileSync(await (await download).path(), "utf8");
  const { key } = JSON.parse(file.split("\n")[0]);
  await page.getByLabel("Key of the project’s log").or(page.getByLabel("Key of the project's log")).fill(key);
  await page.getByRole("button", { name: "Verify in this browser" }).click();
  await page.getByRole("status").getByText("The receipt holds:").waitFor();
  await until("the key was given", async () => (await page.getByText(/the key is the receipt's own/).count()) === 0);
  const wrongs = [
    [/has a record of/, (text) => text.replace('"accepted":5', '"accepted":4')],
    [/are not the 5/, (text) => text.replace(/("shard":3,"output":")(.)/, (_, before, digit) => before + (digit === "0" ? "1" : "0"))],
    [/are not the 5/, (text) => text.replace(/\{"shard":4.*\n/, "")],
  ];
  for (const [says, change] of wrongs) {
    assert.notEqual(change(file), file);
    await page.route("**/receipt/file?*", (route) => route.fulfill({ contentType: "application/x-ndjson", body: change(file) }));
    await page.getByRole("button", { name: "Verify in this browser" }).click();
    await page.getByRole("alert").getByText(says).waitFor();
    await page.unroute("**/receipt/file?*");
  }
  nothingWrong();
  await context.close();
});
