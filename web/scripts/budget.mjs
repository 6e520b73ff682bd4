// Holds the portal to its budget: people on slow lines open it too. Sizes are those of gzip -9, in kB of 1000 bytes.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist", import.meta.url).pathname;
const budget = { firstScripts: 165, styles: 15, lazyScript: 40, all: 300, allRaw: 1100 };

const files = readdirSync(dist, { recursive: true }).map(String).filter((f) => statSync(join(dist, f)).isFile());
const raw = new Map(files.map((f) => [f, readFileSync(join(dist, f))]));
const zipped = new Map(files.map((f) => [f, gzipSync(raw.get(f), { level: 9 }).length / 1000]));
const index = raw.get("index.html").toString();
const first = new Set([...index.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map((m) => m[1]));

const sum = (of) => of.reduce((n, f) => n + zipped.get(f), 0);
const scripts = files.filter((f) => f.endsWith(".js"));
const failures = [];
const hold = (what, is, most) => {
  console.log(`${what.padEnd(28)} ${is.toFixed(1).padStart(7)} of ${most} kB`);
  if (is > most) failures.push(what);
};
hold("first load, scripts", sum(scripts.filter((f) => first.has(f))), budget.firstScripts);
hold("styles", sum(files.filter((f) => f.endsWith(".css"))), budget.styles);
for (const f of scripts.filter((s) => !first.has(s))) hold(f.replace("assets/", ""), zipped.get(f), budget.lazyScript);
hold("everything", sum(files), budget.all);
hold("everything, not zipped", files.reduce((n, f) => n + raw.get(f).length / 1000, 0), budget.allRaw);
// Addresses of namespaces and of explanations are text and are never asked for; anything else would be another host.
const known = /^https?:\/\/(www\.w3\.org|react\.dev|tanstack\.com|github\.com|127\.0\.0\.1|localhost)/;
for (const [f, bytes] of raw) {
  if (!/\.(js|css|html)$/.test(f)) continue;
  for (const [address] of bytes.toString().matchAll(/https?:\/\/[a-z0-9.-]+\.[a-z]{2,}[^\s"'`)]*/g)) if (!known.test(address)) failures.push(`${f} names ${address}`);
}
if (failures.length > 0) {
  console.error(`over budget: ${failures.join(", ")}`);
  process.exit(1);
}
