import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";

import css from "./jobs.module.css";
import type { Schemas } from "../api/client";
import { approvals, decideApproval, type ApprovalState, type Place } from "../api/guardian";
import { useEvery } from "../lib/prefs";
import { Ask, AsCalls, Id, Json, visible, When } from "../ui/bits";
import { Card, More, Nothing, Trouble } from "../ui/panel";
import { Pill, type Shown } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";

const views: [string, ApprovalState | undefined][] = [["Waiting", "waiting"], ["Approved", "approved"], ["Denied", "denied"], ["Used", "used"], ["Expired", "expired"], ["All", undefined]];
const shown: Record<ApprovalState, Shown> = { waiting: "review", approved: "accepted", denied: "failed", used: "accepted", expired: "cancelled" };

/** What waits for somebody's yes: in a project, or, for operators, in the whole installation. */
export function ApprovalsPage() {
  const { project } = useParams({ strict: false }) as { project?: Place };
  const { view = "waiting" } = useSearch({ strict: false }) as { view?: string };
  const state = view === "all" ? undefined : (view as ApprovalState);
  const list = useInfiniteQuery({
    queryKey: ["approvals", project, state],
    queryFn: ({ pageParam }) => approvals(project, state, pageParam),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: useEvery(5000),
  });
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  const path = project ? `/v1/projects/${project}/approvals` : "/v1/approvals";
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Approvals</h1>
        <AsCalls cli={`ostraka approval list${state ? ` --state ${state}` : ""}${project ? "" : " --operator"}`} curl={curl("GET", path + (state ? `?state=${state}` : ""))} />
      </div>
      <nav className={css.views} aria-label="Views">
        {views.map(([label, of]) => <Link key={label} to="." search={{ view: of ?? "all" }} aria-current={of === state ? "page" : undefined}>{label}</Link>)}
      </nav>
      {list.error && <Trouble error={list.error} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <div className={ui.skeleton} style={{ height: 160 }} role="status" aria-label="Loading" />}
      {list.data && items.length === 0 && (
        <Card><Nothing title={state === "waiting" ? "Nothing waits for anybody's yes." : "There is none."}><p>A rule of the guardian that says <code>ask</code> makes what it is about wait here.</p></Nothing></Card>
      )}
      {items.map((a) => <Approval key={a.id} place={project} approval={a} />)}
      <More query={list} shown={items.length} />
    </div>
  );
}

function Approval({ place, approval: a }: { place: Place; approval: Schemas["GuardianApproval"] }) {
  const { mayDecide } = useRights();
  const client = useQueryClient();
  const decide = (approve: boolean) => async (reason: string) => {
    await decideApproval(place, a.id, { approve, reason });
    await client.invalidateQueries({ queryKey: ["approvals", place] });
  };
  return (
    <Card
      title={<><code>{visible(a.operation)}</code> {visible(a.subject)}</>}
      aside={<><Pill as={shown[a.state]}>{a.state}</Pill><Pill as={a.risk === "LOW" || a.risk === "MEDIUM" ? "waiting" : "failed"}>{`risk ${a.risk.toLowerCase()}`}</Pill></>}
    >
      <div className={ui.stack}>
        <p>The rule <strong>{visible(a.rule)}</strong> (version {a.rule_version}, {a.layer}) asks: {visible(a.reason)}</p>
        <dl className={ui.facts}>
          <dt>Asked by</dt><dd className="mono">{visible(a.requested_by)}</dd>
          <dt>Asked</dt><dd><When at={a.created_at} /></dd>
          {a.job && place && <><dt>Job</dt><dd><Link to="/p/$project/jobs/$job" params={{ project: place, job: a.job }}>{a.job}</Link>{a.state === "waiting" && " waits; nothing of it is lent"}</dd></>}
          {a.state === "waiting" && <><dt>Decides</dt><dd>{visible(a.who_decides)}, until <When at={a.expires_at} /></dd></>}
          {a.decided_by && <><dt>Decided by</dt><dd className="mono">{visible(a.decided_by)}{a.why && <>: {visible(a.why)}</>}</dd></>}
          <dt>ID</dt><dd><Id value={a.id} whole /></dd>
        </dl>
        {a.asked !== undefined && <details open><summary className={ui.muted}>What is asked for beyond that</summary><Json value={a.asked} label={`what ${a.id} asks for`} /></details>}
        <details><summary className={ui.muted}>All that the rule saw; a yes holds for exactly this, as it is asked for</summary><Json value={a.facts} label={`facts of ${a.id}`} /></details>
        {a.state === "waiting" && mayDecide && (
          <div className={ui.row}>
            <Ask label="Approve…" title={`Approve ${a.operation}?`} confirm="Approve it" reason onConfirm={decide(true)}>
              It may happen once, as it was asked for. Your name and reason are kept in the audit log.
            </Ask>
            <Ask label="Deny…" title={`Deny ${a.operation}?`} confirm="Deny it" danger reason onConfirm={decide(false)}>
              {a.job ? "The job that waits is cancelled." : "It does not happen."} Your name and reason are kept in the audit log.
            </Ask>
          </div>
        )}
      </div>
    </Card>
  );
}
