import type { Schemas } from "../api/client";

type Flag = Pick<Schemas["Flag"], "kind" | "agent" | "shard" | "rule">;

/** What a flag is about, in one line. */
export function flagTitle(f: Flag, agent: (id: string) => string): string {
  const who = f.agent ? agent(f.agent) : "an agent";
  const where = f.shard !== undefined ? ` on shard ${f.shard}` : "";
  switch (f.kind) {
    case "agent_caught":
      return `${who} was caught`;
    case "mismatch":
      return `${who} answered wrongly${where}`;
    case "review":
      return `A shard waits for a decision${where}`;
    case "divergence":
      return `Platforms differ${where}`;
    default:
      return `${f.kind.replaceAll("_", " ")}${f.rule ? ` (${f.rule})` : ""}${where}`;
  }
}
