import type { Schemas } from "../api/client";
import { digits, plural } from "./format";

const share = (x: number) => (x > 0 && x < 1 && Number.isInteger(Math.round(1e6 / x) / 1e6) ? `1 in ${digits(Math.round(1 / x))}` : `${+(100 * x).toPrecision(3)}%`);

/** A policy as one would say it. */
export function policyWords(p: Schemas["Policy"]): string {
  if (p.none) return "Nothing is checked: what an agent says is taken.";
  const parts: string[] = [];
  if (p.target_error !== undefined) {
    parts.push(`At most ${share(p.target_error)} of the accepted results may be wrong, with up to ${share(p.assume_hostile ?? 0)} of them from liars. A shard is executed once, and a secret sample is executed again.`);
  }
  if (p.quorum) parts.push(p.quorum === 1 ? "One agent's answer is enough." : `${p.quorum} agents must give the same bytes.`);
  if (p.recheck === "all") parts.push("The server executes every shard itself.");
  if (p.confirm) parts.push(`Results that fulfil ${p.confirm} are executed once more before they count.`);
  if (p.max_attempts) parts.push(`After ${plural(p.max_attempts, "attempt")} a person decides.`);
  return parts.join(" ");
}

/** A partition as one would say it. */
export function partitionWords(p: Schemas["Partition"]): string {
  switch (p.kind) {
    case "range":
      return `[${p.from}, ${p.to}) by ${p.size}`;
    case "items":
      return p.object ? "items of a stored object" : plural(p.values?.length ?? 0, "item");
    case "grid":
      return `grid of ${(p.axes ?? []).map((a) => `${a.name} (${a.values.length})`).join(" × ")}`;
    case "lines":
      return `lines of a text, ${p.per_shard ?? p.lines ?? p.size ?? ""} a shard`;
    default:
      return p.prefix ? `files under ${p.prefix}` : p.kind;
  }
}

type Data = Record<string, unknown>;

/** An event as a sentence; agents by name. */
export function eventWords(e: Schemas["Event"], agent: (id: string) => string): { text: string; tone?: "bad" | "good" } {
  const d = (e.data ?? {}) as Data;
  const n = (k: string) => Number(d[k] ?? 0);
  const name = typeof d.agent === "string" ? agent(d.agent) : "";
  switch (e.type) {
    case "submitted":
      return { text: `Submitted: ${d.function} version ${n("version")}, ${plural(n("shards"), "shard")}` };
    case "running":
      return { text: `All ${plural(n("shards"), "shard")} can be lent` };
    case "page":
      return { text: `Page ${n("page") + 1} of ${n("pages")} folded (${plural(n("results"), "result")})` };
    case "agent_caught":
      return { text: `${name} was caught: ${d.reason}`, tone: "bad" };
    case "reopened":
      return { text: name ? `${plural(n("shards"), "result")} of ${name} taken back; the shards are lent again` : `${plural(n("shards"), "result")} taken back: ${d.reason}`, tone: "bad" };
    case "review":
      return { text: d.shard !== undefined ? `Shard ${d.shard} waits for a person` : "The job waits for a person" };
    case "shard_failed":
      return { text: `Shard ${d.shard} failed for good`, tone: "bad" };
    case "aggregating":
      return { text: "All shards are settled; the results are folded" };
    case "ended":
      return { text: `Ended: ${d.state}${d.error ? `: ${d.error}` : ""}`, tone: d.state === "finished" ? "good" : "bad" };
    case "follow_up":
      return { text: `The rule ${d.rule} made a job of ${d.function} with ${plural(n("shards"), "shard")}` };
    case "follow_up_skipped":
      return { text: `The rule ${d.rule} made no job: ${d.reason ?? d.error ?? ""}` };
    case "incident":
      return { text: `An agent that was caught later had given results of this job that are final`, tone: "bad" };
    case "flag_resolved":
      return { text: `A person decided about a flag: ${d.decision ?? ""}` };
    default:
      return { text: e.type.replaceAll("_", " ") };
  }
}
