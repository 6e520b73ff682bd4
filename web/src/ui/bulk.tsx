import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";

import css from "./ui.module.css";
import { api, must, type Schemas } from "../api/client";
import { digits } from "../lib/format";
import { Loaded, Trouble } from "./panel";

type Start = Omit<Schemas["BulkRequest"], "reason">;

/** Who may do something to one, and therefore to many; of agents in a project and in the installation. */
const roles: Record<string, string[]> = {
  "flags": ["owner", "reviewer"],
  "jobs/cancel": ["owner", "submitter"],
  "jobs": ["owner"],
  "agents": ["owner", "operator"],
};

/** Says whether a role may begin, stop, repeat or undo a bulk action. The server decides; this keeps buttons away that it would refuse. */
export const mayBulk = (role: string | undefined, subject: string, action: string) =>
  role !== undefined && (roles[`${subject}/${action}`] ?? roles[subject] ?? []).includes(role);

/** The longest reason for what is done to a subject. */
export const longestReason = (subject: string) => (subject === "agents" ? 300 : 500);

/** How far a bulk action is, as a bar and in numbers. */
export function BulkProgress({ action: b }: { action: Schemas["BulkAction"] }) {
  const share = (n: number) => `${(100 * n) / Math.max(b.total, 1)}%`;
  return (
    <div style={{ minWidth: "9rem" }}>
      <div className={css.bar} role="progressbar" aria-label="Progress" aria-valuemin={0} aria-valuemax={b.total} aria-valuenow={b.done + b.failed}>
        <span style={{ width: share(b.done), background: "var(--s-accepted)" }} />
        <span style={{ width: share(b.failed), background: "var(--s-failed)" }} />
      </div>
      <small className={css.muted}>{digits(b.done)} of {digits(b.total)} done{b.failed > 0 && `, ${digits(b.failed)} failed`}{b.left > 0 && `, ${digits(b.left)} left`}</small>
    </div>
  );
}

/** Begins a bulk action and returns where it is shown. The project is left out where it is about the whole installation. */
export const startBulk = (project: string | undefined, start: Start, reason: string) =>
  project
    ? must(api.POST("/v1/projects/{project}/bulk-actions", { params: { path: { project } }, body: { ...start, reason } }))
    : must(api.POST("/v1/bulk-actions", { body: { ...start, reason } }));

export const planBulk = (project: string | undefined, start: Start) =>
  project
    ? must(api.POST("/v1/projects/{project}/bulk-action-plans", { params: { path: { project } }, body: { ...start, reason: "a look" } }))
    : must(api.POST("/v1/bulk-action-plans", { body: { ...start, reason: "a look" } }));

/** A button that asks whether one thing is to be done to many, says to how many, and goes on to where its progress is shown. */
export function AskBulk({ project, start, label, title, children, danger }: {
  project?: string; start: Start; label: string; title: string; children?: React.ReactNode; danger?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const navigate = useNavigate();
  const client = useQueryClient();
  const plan = useQuery({ queryKey: ["bulk-plan", project, start], queryFn: () => planBulk(project, start), enabled: open, staleTime: 0, retry: false });
  const go = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const made = await startBulk(project, { ...start, expected: plan.data?.total }, reason);
      ref.current?.close();
      await client.invalidateQueries({ queryKey: ["bulks"] });
      if (project) await navigate({ to: "/p/$project/bulk/$bulk", params: { project, bulk: made.id } });
      else await navigate({ to: "/bulk/$bulk", params: { bulk: made.id } });
    } catch (e) {
      setError(e);
      await plan.refetch(); // the number may have changed: the next try is about what is shown then
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" className={`${css.button} ${danger ? css.danger : ""}`} onClick={() => { setOpen(true); ref.current?.showModal(); }}>{label}</button>
      <dialog ref={ref} className={css.dialog} aria-label={title} onClose={() => setOpen(false)}>
        <form onSubmit={(e) => { e.preventDefault(); void go(); }}>
          <h2>{title}</h2>
          {open && <Loaded query={plan} height={24}>{(p) => <p><strong>{digits(p.total)} {p.total === 1 ? `${start.subject.slice(0, -1)} matches` : `${start.subject} match`} now.</strong> It is done to one after the other, each decided and recorded by itself.</p>}</Loaded>}
          {children && <div>{children}</div>}
          <label className={css.field}>
            <span>Reason</span>
            <input className={css.input} value={reason} onChange={(e) => setReason(e.target.value)} required maxLength={longestReason(start.subject)} />
          </label>
          {error !== undefined && <Trouble error={error} />}
          <div className={`${css.row} ${css.end}`}>
            <button type="button" className={css.button} onClick={() => ref.current?.close()}>Keep as it is</button>
            <button type="submit" className={`${css.button} ${css.primary}`} disabled={busy || !plan.data}>Begin</button>
          </div>
        </form>
      </dialog>
    </>
  );
}
