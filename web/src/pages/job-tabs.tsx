import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";

import { api, must, type Schemas } from "../api/client";
import { eventsQuery } from "../api/reads";
import { useUntold } from "../api/stream";
import { bytes, digits, duration, plural } from "../lib/format";
import { endedStates } from "../lib/jobs";
import { eventWords } from "../lib/words";
import { Id, Json, visible, When } from "../ui/bits";
import { Card, Loaded, More, Nothing, Trouble } from "../ui/panel";
import { JobPill, ShardPill } from "../ui/state";
import { printJSON } from "../api/json";
import ui from "../ui/ui.module.css";
import { useAgentNames, useGo } from "./job";

const ReceiptCard = lazy(() => import("./receipt").then((m) => ({ default: m.ReceiptCard })));

export function JobTab({ tab, project, job }: { tab: string; project: string; job: Schemas["Job"] }) {
  switch (tab) {
    case "shards":
      return <Shards project={project} job={job} />;
    case "answer":
      return (
        <>
          <Answers project={project} job={job} />
          {endedStates.has(job.state) && <Suspense fallback={<div className={ui.skeleton} style={{ height: 120 }} role="status" aria-label="Loading" />}><ReceiptCard project={project} job={job} /></Suspense>}
        </>
      );
    case "events":
      return <Events project={project} job={job} />;
    case "metrics":
      return <Metrics project={project} job={job} />;
    default:
      return <Chain project={project} job={job} />;
  }
}

const shardStates: Schemas["ShardState"][] = ["open", "accepted", "review", "failed", "cancelled"];

function Shards({ project, job }: { project: string; job: Schemas["Job"] }) {
  const { state } = useSearch({ strict: false }) as { state?: Schemas["ShardState"] };
  const go = useGo();
  const shards = useInfiniteQuery({
    queryKey: ["shards", project, job.id, state],
    queryFn: ({ pageParam }) => must(api.GET("/v1/projects/{project}/jobs/{job}/shards", { params: { path: { project, job: job.id }, query: { limit: 100, state, cursor: pageParam || undefined } } })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
  });
  const items = shards.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <Card
      title={state ? `Shards: ${state}` : "Shards"}
      flush
      aside={
        <label className={ui.row}>
          <span className={ui.muted}>State</span>
          <select className={ui.input} style={{ width: "auto" }} value={state ?? ""} onChange={(e) => go({ state: e.target.value || undefined })}>
            <option value="">any</option>
            {shardStates.map((s) => <option key={s}>{s}</option>)}
          </select>
        </label>
      }
    >
      {shards.error && <Trouble error={shards.error} retry={() => void shards.refetch()} />}
      {!shards.data && !shards.error && <div className={ui.skeleton} style={{ height: 240 }} />}
      {shards.data && items.length === 0 && <Nothing title={state ? "No shard is in this state." : "The shards are being made."}>{state && <button type="button" className={ui.button} onClick={() => go({ state: undefined })}>Show all</button>}</Nothing>}
      {items.length > 0 && (
        <table className={ui.table}>
          <thead><tr><th>Shard</th><th>State</th><th>Input</th><th>Why</th><th className={ui.num}>Lent</th><th className={ui.num}>Lost</th></tr></thead>
          <tbody>
            {items.map((s) => (
              <tr key={s.number}>
                <td><Link to="/p/$project/jobs/$job/shards/$shard" params={{ project, job: job.id, shard: String(s.number) }}>{digits(s.number)}</Link></td>
                <td><ShardPill state={s.state} /></td>
                <td className="mono" style={{ maxWidth: "26rem", overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" }}>{visible(printJSON(s.input, 0)).slice(0, 300)}</td>
                <td className={ui.muted}>{visible(s.reasons?.at(-1)?.text ?? "")}</td>
                <td className={ui.num}>{s.lent || "–"}</td>
                <td className={ui.num}>{s.lost || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <More query={shards} shown={items.length} of={state ? undefined : job.shards.total} />
    </Card>
  );
}

function Answers({ project, job }: { project: string; job: Schemas["Job"] }) {
  const every = useUntold(5000);
  const runs = useQuery({
    queryKey: ["aggregations", project, job.id],
    queryFn: () => must(api.GET("/v1/projects/{project}/jobs/{job}/aggregations", { params: { path: { project, job: job.id } } })),
    refetchInterval: every,
  });
  return (
    <Card title="Aggregations">
      <Loaded query={runs} empty={(d) => d.items.length === 0} none={<Nothing title="This job folds nothing." />}>
        {(d) => (
          <div className={ui.stack}>
            {d.items.map((a) => (
              <div key={a.run} className={ui.stack}>
                <div className={ui.row}>
                  <h3>Run {a.run}{a.current ? " (the answer)" : ""}</h3>
                  <span className={ui.muted}>{a.state} · {a.aggregator?.module} {a.aggregator && <Id value={a.aggregator.digest} />} · {digits(a.pages_folded)} of {digits(a.pages_total)} pages folded · <When at={a.created_at} /></span>
                </div>
                {a.error && <p style={{ color: "var(--danger)" }}>{visible(a.error)}</p>}
                {a.aggregate && <Json value={a.aggregate.value ?? a.aggregate.preview?.value} label={`answer of run ${a.run}`} />}
                {a.aggregate?.summary && <small className={ui.muted}>{a.aggregate.summary}</small>}
              </div>
            ))}
            <p className={ui.muted}>All accepted results, one a line: <code>ostraka job results {job.id}</code> or <a href={`/v1/projects/${project}/jobs/${job.id}/results`} download={`${job.id}.jsonl`}>download</a></p>
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function Events({ project, job }: { project: string; job: Schemas["Job"] }) {
  const events = useQuery(eventsQuery(project, job.id));
  const name = useAgentNames(project);
  return (
    <Card title="Events" flush>
      <Loaded query={events} empty={(d) => d.length === 0} none={<Nothing title="Nothing has happened yet." />}>
        {(all) => (
          <table className={ui.table}>
            <thead><tr><th className={ui.num}>#</th><th>When</th><th>Event</th><th>What</th></tr></thead>
            <tbody>
              {all.map((e) => (
                <tr key={e.seq}>
                  <td className={ui.num}>{e.seq}</td>
                  <td><When at={e.at} /></td>
                  <td><code>{e.type}</code></td>
                  <td>
                    {visible(eventWords(e, name).text)}
                    <details><summary className={ui.muted}>data</summary><Json value={e.data} label={`data of event ${e.seq}`} /></details>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Card>
  );
}

function Chain({ project, job }: { project: string; job: Schemas["Job"] }) {
  const chain = useQuery({
    queryKey: ["chain", project, job.id],
    queryFn: () => must(api.GET("/v1/projects/{project}/jobs/{job}/chain", { params: { path: { project, job: job.id } } })),
    refetchInterval: useUntold(5000),
  });
  return (
    <Loaded query={chain}>
      {(d) => (
        <>
          <Card title="Jobs of this chain" flush>
            {d.jobs.length < 2 ? <Nothing title="No rule has made a job of this one."><code>ostraka rule create RULE.json</code></Nothing> : (
              <table className={ui.table}>
                <thead><tr><th>Job</th><th>State</th><th>Made by</th><th className={ui.num}>Shards</th><th>Submitted</th></tr></thead>
                <tbody>
                  {d.jobs.map((c) => (
                    <tr key={c.id} aria-current={c.id === job.id || undefined}>
                      <td style={{ paddingLeft: `${1 + c.depth * 1.4}rem` }}>
                        {c.depth > 0 && <span aria-hidden="true">↳ </span>}
                        {c.id === job.id ? <strong>{c.function} (this one)</strong> : <Link to="/p/$project/jobs/$job" params={{ project, job: c.id }}>{c.function}</Link>} <Id value={c.id} />
                      </td>
                      <td><JobPill state={c.state} /></td>
                      <td>{visible(c.rule ? `the rule ${c.rule}` : c.created_by)}</td>
                      <td className={ui.num}>{digits(c.shards)}</td>
                      <td><When at={c.created_at} bare /></td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Card>
          <Card title="What rules came to" flush>
            {d.decisions.length === 0 ? <Nothing title="No rule has decided yet."><p>Rules decide when a job has ended.</p></Nothing> : (
              <table className={ui.table}>
                <thead><tr><th>Job</th><th>Rule</th><th>Outcome</th><th>Why</th><th>What it saw</th><th>When</th></tr></thead>
                <tbody>
                  {d.decisions.map((r) => (
                    <tr key={r.job + r.rule}>
                      <td><Id value={r.job} /></td>
                      <td><strong>{visible(r.name)}</strong>{r.planner && <div className={ui.muted}>planner {visible(r.planner)}</div>}</td>
                      <td>{r.outcome}</td>
                      <td>{visible([r.reason, r.detail].filter(Boolean).join(": "))}</td>
                      <td className="mono">{Object.entries(r.seen).map(([k, v]) => <div key={k}>{visible(`${k} = ${v}`)}</div>)}</td>
                      <td><When at={r.decided_at} bare /></td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Card>
        </>
      )}
    </Loaded>
  );
}

const seconds = (s: number) => duration(s * 1000);

/** What is known of a job that has come to its answer: what rules and planners read too. */
function Metrics({ project, job }: { project: string; job: Schemas["Job"] }) {
  const metrics = useQuery({
    queryKey: ["metrics", project, job.id],
    queryFn: () => must(api.GET("/v1/projects/{project}/jobs/{job}/metrics", { params: { path: { project, job: job.id } } })),
  });
  return (
    <Card title="Metrics">
      <Loaded query={metrics}>
        {(m) => (
          <dl className={ui.facts}>
            <dt>Shards</dt><dd>{digits(m.shards.accepted)} of {digits(m.shards.total)} accepted, {digits(m.shards.failed)} failed, {plural(m.shards.flagged, "shard")} flagged</dd>
            <dt>From submission to the end</dt><dd>{seconds(m.times.elapsed)}</dd>
            <dt>Executions together</dt><dd>{seconds(m.times.wall)}, {seconds(m.times.cpu)} of processors</dd>
            <dt>One execution</dt><dd>half within {seconds(m.times.wall_p50)}, nine in ten within {seconds(m.times.wall_p90)}, 99 in 100 within {seconds(m.times.wall_p99)}</dd>
            <dt>Executions for a shard</dt><dd>{m.verification.executions_per_shard.toFixed(2)} ({digits(m.verification.executions)} in all, {digits(m.verification.rechecks)} shards by servers)</dd>
            <dt>Audits</dt><dd>{digits(m.verification.audits_passed)} passed, {digits(m.verification.audits_failed)} failed{m.verification.incidents > 0 && `, ${plural(m.verification.incidents, "incident")}`}</dd>
            <dt>Wrong results expected</dt><dd>{m.verification.error_bound >= 1 ? "the policy promises no number" : `at most ${m.verification.error_bound.toPrecision(3)} of them; any at all with a probability of at most ${m.verification.answer_risk.toPrecision(3)}`}</dd>
            <dt>Outputs</dt><dd>{bytes(m.sizes.outputs)}, {bytes(m.sizes.output_mean)} each</dd>
            <dt>Answer</dt><dd>{plural(m.aggregate.count, "result")} folded{m.aggregate.left_out > 0 && `, ${plural(m.aggregate.left_out, "value")} left out`}</dd>
            {m.findings.count > 0 && <><dt>Findings</dt><dd>{digits(m.findings.count)} about {plural(m.findings.shards, "shard")}, the highest {m.findings.highest.toPrecision(3)}</dd></>}
          </dl>
        )}
      </Loaded>
    </Card>
  );
}
