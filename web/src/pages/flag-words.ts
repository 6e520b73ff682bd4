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
    case "controls":
      return f.rule === "void" ? "Known answers are not believed" : "Controls found nothing out";
    case "share":
      return "One owner brought more of the results than assumed";
    case "divergence":
      return `Platforms differ${where}`;
    default:
      return `${f.kind.replaceAll("_", " ")}${f.rule ? ` (${f.rule})` : ""}${where}`;
  }
}

/** Whether a flag waits for a person: that of an owner's share needs no decision. */
export const waits = (f: Pick<Schemas["Flag"], "kind">) => f.kind !== "share";
