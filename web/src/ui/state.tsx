import css from "./ui.module.css";
import type { Schemas } from "../api/client";

export type Shown = "waiting" | "running" | "voting" | "accepted" | "review" | "failed" | "cancelled";

export const glyphs: Record<Shown, string> = { waiting: "·", running: "▸", voting: "◐", accepted: "✓", review: "?", failed: "✕", cancelled: "–" };
export const states = Object.keys(glyphs) as Shown[];

const jobs: Record<Schemas["JobState"], Shown> = {
  splitting: "waiting", running: "running", review: "review", held: "review", aggregating: "voting", finished: "accepted", failed: "failed", cancelled: "cancelled", deleting: "cancelled",
};
const agents: Record<Schemas["Agent"]["state"], Shown> = { pending: "waiting", active: "accepted", draining: "voting", quarantined: "failed", revoked: "cancelled" };
const shards: Record<Schemas["ShardState"], Shown> = { open: "running", accepted: "accepted", review: "review", failed: "failed", cancelled: "cancelled" };

export function Pill({ as, children }: { as: Shown; children: string }) {
  return (
    <span className={css.pill}>
      <span className={css.dot} style={{ background: `var(--s-${as})` }} aria-hidden="true" />
      {children}
    </span>
  );
}

export const JobPill = ({ state }: { state: Schemas["JobState"] }) => <Pill as={jobs[state] ?? "waiting"}>{state}</Pill>;
export const AgentPill = ({ state }: { state: Schemas["Agent"]["state"] }) => <Pill as={agents[state] ?? "waiting"}>{state}</Pill>;
export const ShardPill = ({ state }: { state: Schemas["ShardState"] }) => <Pill as={shards[state] ?? "waiting"}>{state}</Pill>;

/** How far a job is. What is accepted but not yet final is hatched: green means that it stands. */
export function Progress({ counts, label }: { counts: Schemas["ShardCounts"]; label?: string }) {
  const part = (n: number, colour: string, key: string) => n > 0 && <span key={key} style={{ width: `${(100 * n) / counts.total}%`, background: colour }} />;
  const final = counts.accepted - counts.provisional;
  const text = label ?? `${counts.accepted} of ${counts.total} shards accepted, ${counts.provisional} of them not final, ${counts.review} in review, ${counts.failed} failed`;
  return (
    <div className={css.bar} role="img" aria-label={text} title={text}>
      {part(final, "var(--s-accepted)", "final")}
      {part(counts.provisional, "repeating-linear-gradient(135deg, var(--s-accepted) 0 3px, var(--s-running) 3px 6px)", "provisional")}
      {part(counts.review, "var(--s-review)", "review")}
      {part(counts.failed, "var(--s-failed)", "failed")}
      {part(counts.cancelled, "var(--s-cancelled)", "cancelled")}
    </div>
  );
}
