import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";

import css from "./shard.module.css";
import type { Schemas } from "../api/client";
import { printJSON } from "../api/json";
import { jobQuery, shardQuery } from "../api/reads";
import { bytes, digits, duration, plural } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { AsCalls, Id, Int, Json, Text, visible, When } from "../ui/bits";
import { Card, Loaded, Trouble } from "../ui/panel";
import { ShardPill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { useAgentNames } from "./job";

const server = /^0{8}-0{4}/;

interface Group {
  key: string;
  digest?: string;
  status: string;
  attempts: Schemas["Attempt"][];
  accepted: boolean;
  server: boolean;
}

/** Attempts by their answer: the server's first, then the accepted one, then by how many gave it. */
export function groupAttempts(attempts: Schemas["Attempt"][]): Group[] {
  const groups = new Map<string, Group>();
  for (const a of attempts) {
    const key = a.output_digest ?? a.status;
    const g = groups.get(key) ?? { key, digest: a.output_digest, status: a.status, attempts: [], accepted: false, server: false };
    g.attempts.push(a);
    g.accepted ||= a.accepted;
    g.server ||= server.test(a.agent);
    groups.set(key, g);
  }
  return [...groups.values()].sort((a, b) => Number(b.server) - Number(a.server) || Number(b.accepted) - Number(a.accepted) || b.attempts.length - a.attempts.length);
}

/** Where two JSON values differ, by path. */
export function differences(here: unknown, there: unknown, path = "$"): { path: string; here?: unknown; there?: unknown }[] {
  const object = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null;
  if (object(here) && object(there) && Array.isArray(here) === Array.isArray(there)) {
    const keys = [...new Set([...Object.keys(here), ...Object.keys(there)])];
    return keys.flatMap((k) => differences(here[k], there[k], Array.isArray(here) ? `${path}[${k}]` : `${path}.${k}`));
  }
  return printJSON(here, 0) === printJSON(there, 0) ? [] : [{ path, here, there }];
}

export function ShardPage() {
  const { project, job: id, shard } = useParams({ from: "/signed/p/$project/jobs/$job/shards/$shard" });
  const number = Number(shard);
  const job = useQuery(jobQuery(project, id));
  const every = useEvery(2000);
  const query = useQuery({ ...shardQuery(project, id, number), refetchInterval: (q) => (q.state.data?.state === "open" ? every : false) });
  const name = useAgentNames(project);
  const total = job.data?.shards.total ?? 0;
  if (!Number.isSafeInteger(number) || number < 0) return <Trouble error={new Error(`${shard} is not the number of a shard.`)} />;
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1>Shard {digits(number)}</h1>
        {query.data && <ShardPill state={query.data.state} />}
        <span className={`${ui.grow} ${ui.muted}`}>of {job.data ? <Link to="/p/$project/jobs/$job" params={{ project, job: id }}>{job.data.function}</Link> : "…"}{total > 1024 ? `, page ${Math.floor(number / 1024) + 1}` : ""}</span>
        {number > 0 && <Link className={ui.button} to="." params={{ project, job: id, shard: String(number - 1) } as never} aria-label="Shard before">←</Link>}
        {number + 1 < total && <Link className={ui.button} to="." params={{ project, job: id, shard: String(number + 1) } as never} aria-label="Next shard">→</Link>}
        <AsCalls cli={`ostraka job shard ${id} ${number}`} curl={`curl -H "Authorization: Bearer $OSTRAKA_KEY" "$OSTRAKA_URL/v1/projects/${project}/jobs/${id}/shards/${number}"`} />
      </div>
      <Loaded query={query} height={320}>{(s) => <Detail shard={s} name={name} project={project} />}</Loaded>
    </div>
  );
}

function Detail({ shard, name, project }: { shard: Schemas["ShardDetail"]; name: (id: string) => string; project: string }) {
  const groups = groupAttempts(shard.attempts);
  const reference = groups.find((g) => g.server && g.digest) ?? groups.find((g) => g.accepted);
  const output = (g?: Group) => g?.attempts[0]?.output;
  return (
    <>
      <div className={css.top}>
        <Card title="Input">
          <Input value={shard.input} />
        </Card>
        <Card title="Verdict">
          <div className={ui.stack}>
            <p>{verdict(shard, groups)}</p>
            {shard.reasons && shard.reasons.length > 0 && (
              <ol className={css.reasons}>
                {shard.reasons.map((r, i) => <li key={i}><span style={r.code === "differs" ? { color: "var(--danger)" } : undefined}>{visible(named(r.text, name))}</span></li>)}
              </ol>
            )}
            <span className={ui.muted}>
              {shard.wanted > 0 && `${plural(shard.wanted, "more answer")} wanted. `}
              {shard.lent > 0 && `${plural(shard.lent, "agent")} holds it now. `}
              {shard.lost > 0 && `${plural(shard.lost, "lease")} lost.`}
            </span>
          </div>
        </Card>
      </div>
      {groups.length === 0 && <Card><p className={ui.muted}>Nobody has answered yet.</p></Card>}
      <div className={css.groups}>
        {groups.map((g) => {
          const wrong = reference !== undefined && g !== reference && reference.server && g.digest !== reference.digest;
          const diff = wrong && output(g) !== undefined ? differences(output(g), output(reference)).slice(0, 20) : [];
          return (
            <section key={g.key} className={`${css.group} ${g.accepted || (g.server && shard.state === "accepted") ? css.accepted : wrong ? css.wrong : ""}`} aria-label={`Answer ${g.digest ?? g.status}`}>
              <div className={css.head}>
                <h2>{g.digest ? (g.accepted || g === reference ? "This answer counts" : wrong ? "A wrong answer" : "Another answer") : g.status}</h2>
                <span className={ui.muted}>{plural(g.attempts.length, "execution")}{g.server ? ", the server's among them" : ""}</span>
              </div>
              {g.digest && <span className={ui.muted}>digest <Id value={g.digest} /></span>}
              {diff.length > 0 && (
                <div className={css.diff} role="group" aria-label="Differences from the server's answer">
                  {diff.map((d) => (
                    <div key={d.path}>
                      <span>{visible(d.path)}</span>
                      <span><b>{clip(d.here)}</b> <span className={ui.muted}>instead of</span> {clip(d.there)}</span>
                    </div>
                  ))}
                </div>
              )}
              {output(g) !== undefined && <Json value={output(g)} label={`output ${g.digest ?? g.status}`} />}
              {g.attempts.map((a) => <AttemptOf key={a.agent + a.reported_at} attempt={a} name={name} project={project} />)}
            </section>
          );
        })}
      </div>
    </>
  );
}

const clip = (v: unknown) => (v === undefined ? "nothing" : visible(printJSON(v, 0)).slice(0, 200));

/** Puts names in the place of the IDs of agents. */
function named(text: string, name: (id: string) => string): string {
  return text.replace(/agent ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g, (_, id: string) => name(id));
}

function verdict(s: Schemas["ShardDetail"], groups: Group[]): string {
  const wrong = groups.some((g) => !g.server) && groups.some((g) => g.server && g.digest) && groups.some((g) => g.digest && !g.server && !g.accepted);
  switch (s.state) {
    case "accepted":
      return wrong ? "Accepted. The server executed it itself, and an agent's answer was found wrong." : groups[0]?.server ? "Accepted. The server executed it once more and came to the same." : "Accepted. It was not drawn for a secret re-execution; its agent's other results vouch for it.";
    case "review":
      return "A person has to decide.";
    case "failed":
      return "Failed for good.";
    case "cancelled":
      return "Cancelled with its job.";
    default:
      return "Not decided yet.";
  }
}

function Input({ value }: { value: unknown }) {
  const v = value as Record<string, unknown> | null;
  if (v && typeof v === "object" && typeof v.from === "string" && typeof v.to === "string" && /^-?\d+$/.test(v.from) && /^-?\d+$/.test(v.to) && Object.keys(v).length === 2) {
    return (
      <dl className={ui.facts}>
        <dt>from</dt><dd><Int value={v.from} /></dd>
        <dt>to, not included</dt><dd><Int value={v.to} /></dd>
        <dt>numbers</dt><dd><Int value={(BigInt(v.to) - BigInt(v.from)).toString()} /></dd>
      </dl>
    );
  }
  return <Json value={value} label="input" />;
}

interface Diagnostics {
  exception?: { type?: string; message?: string; traceback?: string };
  stdout_tail?: string;
  stderr_tail?: string;
  [key: string]: unknown;
}

function AttemptOf({ attempt: a, name, project }: { attempt: Schemas["Attempt"]; name: (id: string) => string; project: string }) {
  const d = (a.diagnostics ?? {}) as Diagnostics;
  const who = `${server.test(a.agent) ? "the server" : name(a.agent)}, ${a.reported_at}`; // makes the names of its parts unique
  const rest = Object.fromEntries(Object.entries(d).filter(([k]) => !["exception", "stdout_tail", "stderr_tail"].includes(k)));
  return (
    <div className={css.attempt}>
      <div className={ui.row}>
        <strong>{server.test(a.agent) ? "The server" : <Link to="/p/$project/agents/$agent" params={{ project, agent: a.agent }}>{name(a.agent)}</Link>}</strong>
        {a.status !== "ok" && <code>{a.status}</code>}
        <span className={ui.muted}><When at={a.reported_at} bare /></span>
      </div>
      <div className={css.measures}>
        {duration(a.wall_us / 1000)} wall · {duration(a.cpu_us / 1000)} CPU · {bytes(a.peak_rss_bytes)} memory · {bytes(a.output_bytes)} out
      </div>
      {d.exception && <Text text={d.exception.traceback ?? `${d.exception.type}: ${d.exception.message}`} label={`exception at ${who}`} />}
      {d.stdout_tail && <details><summary>Printed</summary><Text text={d.stdout_tail} label={`stdout at ${who}`} /></details>}
      {d.stderr_tail && <details><summary>Printed as errors</summary><Text text={d.stderr_tail} label={`stderr at ${who}`} /></details>}
      {Object.keys(rest).length > 0 && <details><summary className={ui.muted}>More</summary><Json value={rest} label={`diagnostics of ${who}`} /></details>}
    </div>
  );
}
