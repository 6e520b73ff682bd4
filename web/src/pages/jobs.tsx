import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";

import css from "./jobs.module.css";
import { api, must, type Schemas } from "../api/client";
import { useUntold } from "../api/stream";
import { endedStates } from "../lib/jobs";
import { partitionWords } from "../lib/words";
import { digits, duration, percent } from "../lib/format";
import { AsCalls, Id, When } from "../ui/bits";
import { AskBulk, mayBulk } from "../ui/bulk";
import { Card, More, Nothing, Trouble } from "../ui/panel";
import { JobPill, Progress } from "../ui/state";
import ui from "../ui/ui.module.css";
import { SavedViews } from "../ui/views";
import { useRights } from "./common";

const views = [
  ["All", undefined], ["Running", "running"], ["In review", "review"], ["Failed", "failed"], ["Finished", "finished"], ["Cancelled", "cancelled"],
] as const;

export function JobsPage() {
  const { project } = useParams({ from: "/signed/p/$project/jobs" });
  const search = useSearch({ strict: false }) as { state?: Schemas["JobState"]; function?: string };
  const navigate = useNavigate();
  const filtered = !!(search.state || search.function);
  const jobs = useInfiniteQuery({
    queryKey: ["jobs", project, search.state, search.function],
    queryFn: ({ pageParam }) => must(api.GET("/v1/projects/{project}/jobs", {
      params: { path: { project }, query: { limit: 50, cursor: pageParam || undefined, state: search.state, function: search.function } },
    })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: useUntold(3000),
    placeholderData: keepPreviousData,
  });
  const items = jobs.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Jobs</h1>
        <Bulk project={project} state={search.state} name={search.function} />
        <AsCalls
          cli={`ostraka job list${search.state ? ` --state ${search.state}` : ""}`}
          curl={`curl -H "Authorization: Bearer $OSTRAKA_KEY" "$OSTRAKA_URL/v1/projects/${project}/jobs${search.state ? `?state=${search.state}` : ""}"`}
        />
      </div>
      <div className={css.query}>
        <nav className={css.views} aria-label="Views">
          {views.map(([label, state]) => (
            <Link key={label} to="/p/$project/jobs" params={{ project }} search={{ ...search, state }} aria-current={search.state === state ? "page" : undefined}>{label}</Link>
          ))}
        </nav>
        <input
          className={ui.input}
          type="search"
          aria-label="Function"
          placeholder="Function, whole name"
          defaultValue={search.function ?? ""}
          onKeyDown={(e) => {
            if (e.key === "Enter") void navigate({ to: ".", search: { ...search, function: e.currentTarget.value.trim() || undefined } });
          }}
        />
      </div>
      <SavedViews list={`jobs.${project}`} search={search} />
      <Card flush>
        {jobs.error && <Trouble error={jobs.error} retry={() => void jobs.refetch()} />}
        {!jobs.data && !jobs.error && <div className={ui.skeleton} style={{ height: 220 }} role="status" aria-label="Loading" />}
        {jobs.data && items.length === 0 && (filtered ? (
          <Nothing title="No job matches."><Link to="/p/$project/jobs" params={{ project }}>Show all jobs</Link></Nothing>
        ) : (
          <Nothing title="No job yet.">
            <p>A job runs a function over many pieces of input.</p>
            <code>ostraka job run FUNCTION --range 1:10^6 --shard-size 10000</code>
          </Nothing>
        ))}
        {items.length > 0 && <JobTable project={project} items={items} />}
        <More query={jobs} shown={items.length} />
      </Card>
    </div>
  );
}

/** What can be done to all jobs of a view at once. */
function Bulk({ project, state, name }: { project: string; state?: Schemas["JobState"]; name?: string }) {
  const { role } = useRights();
  if (!state && !name) return null; // all jobs of a project are chosen by naming what they have in common
  const filter = { state, function: name };
  const over = state !== undefined && endedStates.has(state);
  const which = `${state ?? "all"} jobs${name ? ` of ${name}` : ""}`;
  return (
    <>
      {!over && mayBulk(role, "jobs", "cancel") && <AskBulk project={project} start={{ subject: "jobs", action: "cancel", filter }} label="Cancel all…" title={`Cancel ${which}?`} danger>Results that were accepted stay readable.</AskBulk>}
      {(!state || over) && mayBulk(role, "jobs", "archive") && <AskBulk project={project} start={{ subject: "jobs", action: "archive", filter }} label="Archive all…" title={`Archive ${which}?`}>Their shards leave the database for files. Results, answers and receipts are read as before.</AskBulk>}
      {(!state || over) && mayBulk(role, "jobs", "delete") && <AskBulk project={project} start={{ subject: "jobs", action: "delete", filter }} label="Delete all…" title={`Delete ${which}?`} danger>Those that have ended are deleted with their shards, results and events. This cannot be taken back.</AskBulk>}
    </>
  );
}

export function JobTable({ project, items }: { project: string; items: Schemas["Job"][] }) {
  return (
    <table className={`${ui.table}`}>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Function and input</th>
          <th scope="col">Accepted</th>
          <th scope="col" className={ui.num}>Shards</th>
          <th scope="col" className={ui.num}>Attempts</th>
          <th scope="col" className={ui.num}>Took</th>
          <th scope="col">Started</th>
          <th scope="col">ID</th>
        </tr>
      </thead>
      <tbody>
        {items.map((j) => (
          <tr key={j.id}>
            <td><JobPill state={j.state} /></td>
            <td>
              <Link className={css.name} to="/p/$project/jobs/$job" params={{ project, job: j.id }}>{j.function}</Link> <span className={ui.muted}>v{j.version}</span>
              <span className={`${css.sub} mono`}>{partitionWords(j.partition)}</span>
            </td>
            <td style={{ minWidth: "9rem" }}>
              <Progress counts={j.shards} /> <small className={ui.muted}>{percent(j.shards.accepted, j.shards.total)}{j.shards.provisional > 0 ? `, ${percent(j.shards.provisional, j.shards.total)} not final` : ""}</small>
            </td>
            <td className={ui.num}>{digits(j.shards.total)}</td>
            <td className={ui.num}>{digits(j.attempts)}</td>
            <td className={ui.num}>{j.started_at ? duration(Date.parse(j.finished_at ?? new Date().toISOString()) - Date.parse(j.started_at)) : "–"}</td>
            <td><When at={j.created_at} bare /></td>
            <td><Id value={j.id} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
