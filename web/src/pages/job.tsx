import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef } from "react";

import css from "./job.module.css";
import { api, must, type Schemas } from "../api/client";
import { agentsQuery, eventsQuery, explainQuery, flagsQuery, jobQuery, sandboxesQuery, sessionQuery } from "../api/reads";
import { useStream, useUntold, type Sample } from "../api/stream";
import { digits, duration, percent, plural } from "../lib/format";
import { endedStates } from "../lib/jobs";
import { eventWords, partitionWords, policyWords } from "../lib/words";
import { Ask, AsCalls, Id, Json, When } from "../ui/bits";
import { Card, Loaded, Nothing, Trouble } from "../ui/panel";
import { JobPill, Progress } from "../ui/state";
import ui from "../ui/ui.module.css";
import { Controls } from "./controls";
import { JobMosaic } from "./job-mosaic";
import { jobCalls, Priority, Rerun } from "./job-steer";

const Tabs = { map: "Map", shards: "Shards", answer: "Answer", events: "Events", metrics: "Metrics", chain: "Follow-ups" } as const;
type Tab = keyof typeof Tabs;
const JobTab = lazy(() => import("./job-tabs").then((m) => ({ default: m.JobTab })));

export function JobPage() {
  const { project, job: id } = useParams({ from: "/signed/p/$project/jobs/$job" });
  const { tab = "map" } = useSearch({ strict: false }) as { tab?: Tab };
  const client = useQueryClient();
  const every = useUntold(5000);
  const job = useQuery({ ...jobQuery(project, id), refetchInterval: (q) => (q.state.data && endedStates.has(q.state.data.state) ? false : every) });
  const ended = job.data ? endedStates.has(job.data.state) : false;
  useQuery(eventsQuery(project, id));
  const { samples } = useStream();
  const { data: who } = useQuery(sessionQuery);
  if (!job.data) return <Loaded query={job} height={420}>{() => null}</Loaded>;
  const j = job.data;
  const may = who?.role === "owner" || who?.role === "submitter";
  return (
    <div className={ui.page}>
      {job.error && <Trouble error={job.error} retry={() => void job.refetch()} />}
      <div className={ui.title}>
        <h1>{j.function} <span className={ui.muted} style={{ fontWeight: 450 }}>v{j.version}</span></h1>
        <JobPill state={j.state} />
        <span className={`${ui.grow} mono ${ui.muted}`}>{partitionWords(j.partition)}</span>
        <Id value={j.id} />
        <AsCalls {...jobCalls(project, j)} />
        {may && ended && <Rerun project={project} job={j} />}
        {may && <Link className={ui.button} to="/p/$project/run" params={{ project }} search={{ like: id }}>Change and run…</Link>}
        {may && !ended && (
          <Ask
            label="Cancel…" title="Cancel this job?" confirm="Cancel the job" danger
            onConfirm={async () => {
              await must(api.POST("/v1/projects/{project}/jobs/{job}/cancel", { params: { path: { project, job: id } } }));
              await client.invalidateQueries({ queryKey: ["job", project, id] });
            }}
          >
            {plural(j.shards.open, "open shard")} will be executed by nobody, and those that agents hold are called back. {digits(j.shards.accepted)} accepted results stay. This cannot be taken back.
          </Ask>
        )}
      </div>
      <Caught project={project} job={j} />
      <Numbers job={j} samples={samples} ended={ended} />
      <nav className={ui.tabs} aria-label="Parts of the job">
        {(Object.keys(Tabs) as Tab[]).map((t) => (
          <Link key={t} className={ui.tab} to="." search={{ tab: t === "map" ? undefined : t }} aria-current={t === tab ? "page" : undefined}>{Tabs[t]}</Link>
        ))}
      </nav>
      {tab === "map" ? (
        <div className={css.split}>
          <div className={css.col}>
            <JobMosaic project={project} job={j} ended={ended} />
            <Moments project={project} job={j} />
          </div>
          <div className={css.col}>
            <Answer job={j} />
            {!ended && <Why project={project} job={id} />}
            <Trust job={j} />
            <Controls job={j} />
            {!ended && may && <Priority project={project} job={j} owner={who?.role === "owner"} />}
            {!ended && <AtWork project={project} job={id} />}
          </div>
        </div>
      ) : (
        <Suspense fallback={<div className={ui.skeleton} style={{ height: 240 }} />}>
          <JobTab tab={tab} project={project} job={j} />
        </Suspense>
      )}
    </div>
  );
}

/** Names agents of the project; those that are not of it any more by their ID. */
export function useAgentNames(project: string): (id: string) => string {
  const { data } = useQuery({ ...agentsQuery(project), staleTime: 30_000 });
  return useMemo(() => {
    const names = new Map((data ?? []).map((a) => [a.id, a.name]));
    return (id) => (/^0{8}-/.test(id) ? "the server" : (names.get(id) ?? `agent ${id.slice(-6)}`));
  }, [data]);
}

interface Lie {
  agent: string;
  reason: string;
  shards: number[];
  taken: number;
}

/** Who was caught lying in this job, with the shards that prove it. */
function useLies(project: string, job: string): Lie[] {
  const events = useQuery(eventsQuery(project, job));
  const flags = useQuery({ ...flagsQuery(project, { job }), staleTime: 10_000 });
  return useMemo(() => {
    const lies = new Map<string, Lie>();
    for (const e of events.data ?? []) {
      const d = (e.data ?? {}) as Record<string, unknown>;
      if (e.type !== "agent_caught" || typeof d.agent !== "string") continue;
      lies.set(d.agent, { agent: d.agent, reason: String(d.reason ?? ""), shards: [], taken: 0 });
    }
    for (const e of events.data ?? []) {
      const d = (e.data ?? {}) as Record<string, unknown>;
      const lie = e.type === "reopened" && typeof d.agent === "string" ? lies.get(d.agent) : undefined;
      if (lie) lie.taken += Number(d.shards ?? 0);
    }
    for (const [agent, shard] of wrongAnswers(flags.data?.items ?? [])) {
      const lie = lies.get(agent);
      if (lie && !lie.shards.includes(shard)) lie.shards.push(shard);
    }
    return [...lies.values()];
  }, [events.data, flags.data]);
}

/** Agent and shard of each wrong answer that flags tell of. */
export function wrongAnswers(flags: Schemas["Flag"][]): [string, number][] {
  return flags.filter((f) => f.kind === "mismatch" && f.agent !== undefined && f.shard !== undefined).map((f) => [f.agent!, f.shard!]);
}

function Caught({ project, job }: { project: string; job: Schemas["Job"] }) {
  const lies = useLies(project, job.id);
  const name = useAgentNames(project);
  if (lies.length === 0) return null;
  const taken = Math.max(job.verification?.reopened ?? 0, lies.reduce((n, l) => n + l.taken, 0));
  const one = lies.length === 1 ? lies[0] : undefined;
  const again = job.shards.open === 0 && job.shards.review === 0;
  return (
    <section className={css.caught} aria-label="Caught">
      <svg className={css.stamp} viewBox="0 0 48 48" aria-hidden="true">
        <path fill="var(--s-failed)" d="M7 10 26 3l17 13-5 22-20 6L4 30z" />
        <path d="m16 16 16 16M32 16 16 32" stroke="#fff" strokeWidth="5" strokeLinecap="round" />
      </svg>
      <div>
        <h2>
          {one ? <>Caught lying: {name(one.agent)}</> : <>Caught lying: {plural(lies.length, "agent")}</>}
        </h2>
        <p>
          {job.verification?.audits_failed ? `${plural(job.verification.audits_failed, "answer")} that nobody expected to be checked ${job.verification.audits_failed === 1 ? "was" : "were"} executed once more, and came out differently. ` : "Its answers were out-voted. "}
          {one ? "It is" : "They are"} lent nothing any more, and{" "}
          <strong>{taken === 0 ? "no other result of it stood" : `${plural(taken, "result")} ${taken === 1 ? "was" : "were"} taken back`}</strong>
          {taken > 0 && (again ? " and executed again by others: none of them is in the answer." : "; others execute them again now.")}
        </p>
      </div>
      <div className={ui.row}>
        {one?.shards[0] !== undefined && (
          <Link className={`${ui.button}`} to="/p/$project/jobs/$job/shards/$shard" params={{ project, job: job.id, shard: String(one.shards[0]) }}>See the proof</Link>
        )}
      </div>
    </section>
  );
}

/** The rate now and how long it will go on: between what the last minute and the whole run promise. */
export function outlook(samples: Sample[], job: Pick<Schemas["Job"], "shards" | "started_at">, now: number): { rate?: number; from?: number; to?: number } {
  const left = job.shards.total - job.shards.accepted;
  const recent = samples.filter((s) => now - s.at < 60_000);
  const rates: number[] = [];
  const first = recent[0];
  const last = recent.at(-1);
  if (first && last && last.at - first.at > 1500 && last.accepted > first.accepted) rates.push((last.accepted - first.accepted) / ((last.at - first.at) / 1000));
  if (job.started_at && job.shards.accepted > 0) rates.push(job.shards.accepted / Math.max(0.001, (now - Date.parse(job.started_at)) / 1000));
  if (rates.length === 0) return {};
  const slow = Math.min(...rates);
  const fast = Math.max(...rates);
  return { rate: rates[0], from: (left / fast) * 1000, to: (left / slow) * 1000 * 1.15 };
}

function Numbers({ job, samples, ended }: { job: Schemas["Job"]; samples: Sample[]; ended: boolean }) {
  const v = job.verification;
  const o = outlook(samples, job, Date.now());
  const took = job.started_at && job.finished_at ? Date.parse(job.finished_at) - Date.parse(job.started_at) : undefined;
  return (
    <div className={css.numbers}>
      <div className={css.number} style={{ gridColumn: "span 2" }}>
        <span>Accepted</span>
        <b>{digits(job.shards.accepted)} <span className={ui.muted} style={{ fontSize: "1rem" }}>of {digits(job.shards.total)} · {percent(job.shards.accepted, job.shards.total)}</span></b>
        <Progress counts={job.shards} />
        {job.shards.provisional > 0 && <small>{digits(job.shards.provisional)} of them not final: their agents' audits go on</small>}
      </div>
      <div className={css.number}>
        <span>{ended ? "Took" : "Left"}</span>
        <b>{ended ? (took !== undefined ? duration(took) : "–") : o.from === undefined ? "–" : o.to! - o.from < 2000 ? duration(o.to!) : `${duration(o.from)} – ${duration(o.to!)}`}</b>
        <small>{took ? `${digits(Math.round((job.shards.accepted / took) * 60_000))} shards/min` : o.rate ? `${digits(Math.round(o.rate * 60))} shards/min` : "no rate yet"}</small>
      </div>
      {v && (
        <>
          <div className={css.number}>
            <span>Checked again in secret</span>
            <b>{digits(v.audits_drawn)}</b>
            <small>{digits(v.audits_passed)} passed{v.audits_pending > 0 ? `, ${digits(v.audits_pending)} to come` : ""}</small>
          </div>
          <div className={css.number}>
            <span>Lies found out</span>
            <b style={v.audits_failed > 0 ? { color: "var(--danger)" } : undefined}>{digits(v.audits_failed)}</b>
            <small>{v.reopened > 0 ? `${plural(v.reopened, "result")} taken back` : "nothing taken back"}</small>
          </div>
          <div className={css.number}>
            <span>Executions a shard</span>
            <b>{v.executions_per_shard.toFixed(2)}</b>
            <small>{plural(v.rechecks, "by the server", "by the server")}</small>
          </div>
        </>
      )}
    </div>
  );
}

function Answer({ job }: { job: Schemas["Job"] }) {
  const a = job.aggregate;
  const preview = a?.preview;
  const value = job.state === "finished" ? a?.value : (preview?.value ?? a?.value);
  if (value === undefined || value === null) {
    return (
      <Card title="Answer">
        <p className={ui.muted}>{job.aggregator ? `It begins to grow when the first page of 1 024 shards is settled (module ${job.aggregator.module}).` : "This job folds nothing: its results are its answer."}</p>
        {job.aggregation_error && <p className={css.bad}>{job.aggregation_error}</p>}
      </Card>
    );
  }
  const fields = typeof value === "object" && !Array.isArray(value) ? Object.entries(value as Record<string, unknown>) : undefined;
  const small = fields?.filter(([, v]) => typeof v === "number" || typeof v === "bigint" || (typeof v === "string" && v.length <= 40));
  return (
    <Card title="Answer" aside={job.state === "finished" ? <span className={css.good}>✓ stands</span> : <span className={ui.muted}>preview{preview ? ` of ${Math.floor(preview.share * 100)}%` : ""}</span>}>
      <div className={css.answerGrid}>
        {fields ? small?.slice(0, 4).map(([k, v]) => (
          <div key={k} className={css.answer}>
            <div className={ui.muted}>{k}</div>
            <b data-value={String(v)}>{digits(v as number)}</b>
          </div>
        )) : <div className={css.answer}><b data-value={String(value)}>{typeof value === "object" ? "" : digits(value as string)}</b></div>}
        {(typeof value === "object") && <details><summary>Whole value</summary><Json value={value} label="answer" /></details>}
        {a?.summary && <small className={ui.muted}>{a.summary}</small>}
      </div>
    </Card>
  );
}

function Why({ project, job }: { project: string; job: string }) {
  const every = useUntold(3000);
  const why = useQuery({ ...explainQuery(project, job), refetchInterval: every, placeholderData: keepPreviousData });
  if (!why.data) return null;
  return (
    <Card title="Why it is not done">
      {why.data.reasons.length === 0 && <p>{why.data.summary}</p>}
      {why.data.reasons.map((r) => (
        <div key={r.code} className={css.waits}>
          <span>{r.text}</span>
          {r.hint && <small>Next: {r.hint}</small>}
        </div>
      ))}
    </Card>
  );
}

function Trust({ job }: { job: Schemas["Job"] }) {
  const v = job.verification;
  const p = job.policy;
  return (
    <Card title="What the answer promises">
      <div className={css.spent}>
        <p>{policyWords(p)}</p>
        {v && v.error_bound > 0 && <div className={css.kv}><span>Wrong results, at most</span><b>{+(v.error_bound * 100).toPrecision(2)}%</b></div>}
        {v && <div className={css.kv}><span>Audits passed / failed / void</span><span>{digits(v.audits_passed)} / {digits(v.audits_failed)} / {digits(v.audits_void)}</span></div>}
        {v?.confirm && <div className={css.kv}><span>Results that matter: matched / confirmed / refuted</span><span>{digits(v.confirm.matched)} / {digits(v.confirm.confirmed)} / {digits(v.confirm.refuted)}</span></div>}
        {v && v.questionable > 0 && <div className={css.kv}><span>Final results of agents caught later</span><b className={css.bad}>{digits(v.questionable)}</b></div>}
        <div className={css.kv}><span>Attempts</span><span>{digits(job.attempts)}</span></div>
        <div className={css.kv}><span>Submitted</span><When at={job.created_at} bare /></div>
        <div className={css.kv}><span>By</span><span className="mono">{job.created_by.split(":")[0]} <Id value={job.created_by.split(":")[1] ?? job.created_by} /></span></div>
      </div>
    </Card>
  );
}

function AtWork({ project, job }: { project: string; job: string }) {
  const every = useUntold(2000);
  const running = useQuery({ ...sandboxesQuery(project, { job, running: true }), refetchInterval: every });
  const by = new Map<string, Schemas["Sandbox"][]>();
  for (const s of running.data?.items ?? []) by.set(s.agent_name, [...(by.get(s.agent_name) ?? []), s]);
  return (
    <Card title="At work now">
      <Loaded query={running} height={40} empty={() => by.size === 0} none={<p className={ui.muted}>No sandbox runs at this moment.</p>}>
        {() => [...by].map(([name, boxes]) => (
          <div key={name} className={css.kv}>
            <span>{name}</span>
            <span>{plural(boxes.length, "sandbox", "sandboxes")} · {Math.round(boxes.reduce((n, b) => n + (b.sample?.cpu_percent ?? 0), 0))}% CPU · {boxes[0]!.level}</span>
          </div>
        ))}
      </Loaded>
    </Card>
  );
}

function Moments({ project, job }: { project: string; job: Schemas["Job"] }) {
  const events = useQuery(eventsQuery(project, job.id));
  const name = useAgentNames(project);
  const list = useRef<HTMLOListElement>(null);
  const count = events.data?.length ?? 0;
  useEffect(() => {
    // The newest is on top; somebody who has scrolled down to read stays where they are.
    if (list.current && list.current.scrollTop < 40) list.current.scrollTop = 0;
  }, [count]);
  return (
    <Card title="What has happened" flush>
      <Loaded query={events} empty={(d) => d.length === 0} none={<Nothing title="Nothing yet." />}>
        {(all) => (
          <ol className={css.ticker} ref={list} tabIndex={0} aria-label="Events, newest first">
            {all.slice(-200).reverse().map((e) => {
              const w = eventWords(e, name);
              return (
                <li key={e.seq}>
                  <time dateTime={e.at} title={e.at}>{since(e.at, job.created_at)}</time>
                  <span className={w.tone ? css[w.tone] : undefined}>{w.text}</span>
                </li>
              );
            })}
          </ol>
        )}
      </Loaded>
    </Card>
  );
}

function since(at: string, start: string): string {
  const ms = Date.parse(at) - Date.parse(start);
  return `+${duration(Math.max(0, ms))}`;
}

/** Goes to another tab or page of the job, keeping the rest of the address. */
export function useGo() {
  const navigate = useNavigate();
  return (search: Record<string, string | undefined>) => void navigate({ to: ".", search: (old: object) => ({ ...old, ...search }) as never });
}
