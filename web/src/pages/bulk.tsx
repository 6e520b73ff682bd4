import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";

import { api, must, type Schemas } from "../api/client";
import { digits, plural } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { Ask, AsCalls, Id, visible, When } from "../ui/bits";
import { BulkProgress, longestReason, mayBulk } from "../ui/bulk";
import { Card, Loaded, More, Nothing, Trouble } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";

type Action = Schemas["BulkAction"];

const pills = { running: "running", finished: "accepted", cancelled: "cancelled" } as const;
const apiOf = (project?: string) => (project ? `/v1/projects/${project}/bulk-actions` : "/v1/bulk-actions");

const noCommand = "# about agents of the installation there is no command: use curl, or ostraka agent drain AGENT for one";

function BulkPill({ action: b }: { action: Action }) {
  return <Pill as={b.state === "finished" && b.failed > 0 ? "voting" : pills[b.state]}>{b.state}</Pill>;
}

function BulkLink({ project, id, children }: { project?: string; id: string; children: React.ReactNode }) {
  return project ? <Link to="/p/$project/bulk/$bulk" params={{ project, bulk: id }}>{children}</Link> : <Link to="/bulk/$bulk" params={{ bulk: id }}>{children}</Link>;
}

export function BulksPage() {
  const { project } = useParams({ strict: false });
  const list = useInfiniteQuery({
    queryKey: ["bulks", project],
    queryFn: ({ pageParam }) => {
      const query = { limit: 50, cursor: pageParam || undefined };
      return project ? must(api.GET("/v1/projects/{project}/bulk-actions", { params: { path: { project }, query } })) : must(api.GET("/v1/bulk-actions", { params: { query } }));
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: useEvery(2000),
  });
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Bulk actions</h1>
        <AsCalls cli={project ? "ostraka bulk list" : noCommand} curl={curl("GET", apiOf(project))} />
      </div>
      <Card flush>
        {list.error && <Trouble error={list.error} retry={() => void list.refetch()} />}
        {!list.data && !list.error && <div className={ui.skeleton} style={{ height: 160 }} role="status" aria-label="Loading" />}
        {list.data && items.length === 0 && (
          <Nothing title="Nothing was done to many at once yet.">
            {project ? <p>Flags, jobs and agents can be decided about together where they are listed.</p> : <p>Agents of the installation can be decided about together where <Link to="/system">they are listed</Link>.</p>}
            {project && <code>ostraka bulk start flags dismiss --like FLAG --reason TEXT</code>}
          </Nothing>
        )}
        {items.length > 0 && (
          <table className={ui.table}>
            <thead><tr><th scope="col">What</th><th scope="col">State</th><th scope="col">Progress</th><th scope="col">Why</th><th scope="col">By</th><th scope="col">Begun</th></tr></thead>
            <tbody>
              {items.map((b) => (
                <tr key={b.id}>
                  <td><BulkLink project={project} id={b.id}><strong>{visible(b.action)} {plural(b.total, b.subject.slice(0, -1))}</strong></BulkLink></td>
                  <td><BulkPill action={b} /></td>
                  <td><BulkProgress action={b} /></td>
                  <td>{visible(b.reason ?? "")}</td>
                  <td className={ui.muted}>{visible(b.created_by)}</td>
                  <td><When at={b.created_at} bare /></td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <More query={list} shown={items.length} />
      </Card>
    </div>
  );
}

export function BulkPage() {
  const { project, bulk = "" } = useParams({ strict: false });
  const every = useEvery(1000);
  const detail = useQuery({
    queryKey: ["bulk", project, bulk],
    queryFn: () => (project ? must(api.GET("/v1/projects/{project}/bulk-actions/{bulk}", { params: { path: { project, bulk } } })) : must(api.GET("/v1/bulk-actions/{bulk}", { params: { path: { bulk } } }))),
    refetchInterval: (q) => (q.state.data?.state === "running" ? every : false),
  });
  return (
    <Loaded query={detail} height={300}>
      {(b) => (
        <div className={ui.page}>
          <div className={ui.title}>
            <h1>{visible(b.action)} {plural(b.total, b.subject.slice(0, -1))}</h1>
            <BulkPill action={b} />
            <span className={`${ui.grow} ${ui.muted}`}>{visible(b.detail ?? "")}</span>
            <Id value={b.id} />
            <AsCalls cli={project ? `ostraka bulk show ${b.id}\nostraka bulk cancel ${b.id}` : noCommand} curl={curl("GET", `${apiOf(project)}/${b.id}`)} />
            <Decide project={project} action={b} />
          </div>
          <Card title="How far it is">
            <div className={ui.stack}>
              <BulkProgress action={b} />
              <dl className={ui.facts}>
                <dt>Why</dt><dd>{visible(b.reason ?? "")}</dd>
                <dt>Chosen by</dt><dd>{b.undoes ? "the bulk action that it takes back" : filterWords(b.filter)}</dd>
                <dt>By</dt><dd>{visible(b.created_by)}</dd>
                <dt>Begun</dt><dd><When at={b.created_at} /></dd>
                {b.ended_at && <><dt>Ended</dt><dd><When at={b.ended_at} /></dd></>}
                {b.undoes && <><dt>Takes back</dt><dd><BulkLink project={project} id={b.undoes}>another bulk action</BulkLink></dd></>}
              </dl>
              <p className={ui.muted}>Each item is decided by the guardian and written into the audit log as if it had been asked for alone.</p>
            </div>
          </Card>
          <Card title={b.failed > b.failures.length ? `What failed: the first ${b.failures.length} of ${digits(b.failed)}` : "What failed"} flush>
            {b.failures.length === 0 ? <Nothing title="Nothing has failed." /> : (
              <table className={ui.table}>
                <thead><tr><th scope="col">Item</th><th scope="col">Code</th><th scope="col">What was wrong</th></tr></thead>
                <tbody>{b.failures.map((f) => <tr key={f.item}><td><Item project={project} subject={b.subject} id={f.item} /></td><td><code>{visible(f.code)}</code></td><td>{visible(f.message)}</td></tr>)}</tbody>
              </table>
            )}
          </Card>
        </div>
      )}
    </Loaded>
  );
}

/** What was asked for, in words. */
function filterWords(f: Schemas["BulkFilter"]): string {
  const parts = Object.entries(f).filter(([k]) => k !== "like").map(([k, v]) => (Array.isArray(v) ? `${digits(v.length)} named` : `${k} ${visible(String(v))}`));
  return `${f.like ? "like one flag: " : ""}${parts.join(", ") || "all"}`;
}

function Item({ project, subject, id }: { project?: string; subject: Action["subject"]; id: string }) {
  if (!project) return <Id value={id} whole />;
  if (subject === "flags") return <Link to="/p/$project/review/$flag" params={{ project, flag: id }}>{id}</Link>;
  if (subject === "jobs") return <Link to="/p/$project/jobs/$job" params={{ project, job: id }}>{id}</Link>;
  return <Link to="/p/$project/agents/$agent" params={{ project, agent: id }}>{id}</Link>;
}

function Decide({ project, action: b }: { project?: string; action: Action }) {
  const { role } = useRights();
  const client = useQueryClient();
  const navigate = useNavigate();
  const may = mayBulk(role, b.subject, b.action);
  const change = (verb: "cancel" | "retry") => async () => {
    if (project) await must(api.POST(`/v1/projects/{project}/bulk-actions/{bulk}/${verb}` as "/v1/projects/{project}/bulk-actions/{bulk}/cancel", { params: { path: { project, bulk: b.id } } }));
    else await must(api.POST(`/v1/bulk-actions/{bulk}/${verb}` as "/v1/bulk-actions/{bulk}/cancel", { params: { path: { bulk: b.id } } }));
    await client.invalidateQueries({ queryKey: ["bulk", project, b.id] });
  };
  const undo = async (reason: string) => {
    if (project) {
      const made = await must(api.POST("/v1/projects/{project}/bulk-actions/{bulk}/undo", { params: { path: { project, bulk: b.id } }, body: { reason } }));
      await navigate({ to: "/p/$project/bulk/$bulk", params: { project, bulk: made.id } });
    } else {
      const made = await must(api.POST("/v1/bulk-actions/{bulk}/undo", { params: { path: { bulk: b.id } }, body: { reason } }));
      await navigate({ to: "/bulk/$bulk", params: { bulk: made.id } });
    }
  };
  return (
    <>
      {may && b.state === "running" && <Ask label="Stop…" title="Stop it?" confirm="Stop it" danger onConfirm={change("cancel")}>{plural(b.left, "item")} {b.left === 1 ? "is" : "are"} left as {b.left === 1 ? "it is" : "they are"}. What was done stays.</Ask>}
      {may && b.state !== "running" && b.done < b.total && <Ask label="Do the rest again…" title="Do what is left again?" confirm="Do it" onConfirm={change("retry")}>{plural(b.total - b.done, "item")} that failed or {b.total - b.done === 1 ? "was" : "were"} left. It has your rights from then on.</Ask>}
      {b.undo && mayBulk(role, b.subject, b.undo) && <Ask label={`Undo: ${b.undo}…`} title="Take back what was done?" confirm="Undo it" reason longest={longestReason(b.subject)} onConfirm={undo}>Another bulk action does {b.undo} to those of {plural(b.done, b.subject.slice(0, -1))} that are still as this one has left them.</Ask>}
    </>
  );
}
