import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Fragment, lazy, Suspense, useState } from "react";

import css from "./job.module.css";
import { api, must, type Schemas } from "../api/client";
import { agentsQuery, flagsQuery, sandboxesQuery } from "../api/reads";
import { useUntold } from "../api/stream";
import { bytes, digits, duration, plural } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { Ask, AsCalls, Id, visible, When } from "../ui/bits";
import { AskBulk, mayBulk } from "../ui/bulk";
import { Card, Loaded, Nothing } from "../ui/panel";
import { AgentPill, Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";
import { flagTitle } from "./flag-words";

const AgentCharts = lazy(() => import("./agent-charts").then((m) => ({ default: m.AgentCharts })));

type Agent = Schemas["ProjectAgent"];

const seen = (a: Agent) => a.last_seen_at !== undefined && Date.now() - Date.parse(a.last_seen_at) < 60_000;

function StateOf({ agent: a }: { agent: Agent }) {
  if (a.caught_at) return <Pill as="failed">caught lying</Pill>;
  if (a.excluded) return <Pill as="cancelled">excluded</Pill>;
  if (a.state === "active" && !seen(a)) return <Pill as="waiting">away</Pill>;
  return <AgentPill state={a.state} />;
}

/** What is known about an agent's answers: a bar with how many stand behind it, never a score alone. */
function Evidence({ agent: a }: { agent: Agent }) {
  const n = a.passed + a.failed;
  if (n === 0) return <span className={ui.muted}>nothing checked yet</span>;
  return (
    <div style={{ minWidth: "8rem" }}>
      <div className={ui.bar} role="img" aria-label={`${a.passed} of ${n} checks passed`}>
        <span style={{ width: `${(100 * a.passed) / n}%`, background: "var(--s-accepted)" }} />
        <span style={{ width: `${(100 * a.failed) / n}%`, background: "var(--s-failed)" }} />
      </div>
      <small className={a.failed > 0 ? css.bad : ui.muted}>{digits(a.passed)} passed, {digits(a.failed)} failed{a.probation ? ", on probation" : ""}</small>
    </div>
  );
}

export function AgentsPage() {
  const { project } = useParams({ from: "/signed/p/$project/agents" });
  const agents = useQuery({ ...agentsQuery(project), refetchInterval: useUntold(3000) });
  const rank = (a: Agent) => (a.state === "pending" ? 0 : a.caught_at ? 1 : seen(a) ? 2 : 3);
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Agents</h1>
        <AskAll project={project} />
        <AsCalls cli="ostraka agent list" curl={curl("GET", `/v1/projects/${project}/agents`)} />
      </div>
      <Card flush>
        <Loaded query={agents} empty={(d) => d.length === 0} none={<Nothing title="No agent has joined yet."><p>Lend a machine to this project:</p><code>ostraka agent start --server URL --token TOKEN</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th>Agent</th><th>State</th><th>Checks of its answers</th><th className={ui.num}>Shards done</th><th>Why idle</th><th>Isolation</th><th>Machine</th><th>Seen</th></tr></thead>
              <tbody>
                {[...d].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).map((a) => (
                  <tr key={a.id}>
                    <td><Link to="/p/$project/agents/$agent" params={{ project, agent: a.id }}><strong>{visible(a.name)}</strong></Link>{a.owner && a.owner !== a.name && <div className={ui.muted}>{visible(a.owner)}</div>}</td>
                    <td><StateOf agent={a} /></td>
                    <td><Evidence agent={a} /></td>
                    <td className={ui.num}>{digits(a.shards_done)}</td>
                    <td className={ui.muted}>{seen(a) ? visible(a.idle?.text ?? "at work") : "–"}</td>
                    <td>{a.isolation}</td>
                    <td className={ui.muted}>{a.platform.os}/{a.platform.arch}, {a.platform.cpus} CPUs, {bytes(a.platform.memory_bytes)}</td>
                    <td>{a.last_seen_at ? <When at={a.last_seen_at} bare /> : "never"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
      </Card>
    </div>
  );
}

/** Excludes or admits all agents of an owner at once. */
function AskAll({ project }: { project: string }) {
  const { role } = useRights();
  const [of, setOf] = useState("");
  if (!mayBulk(role, "agents", "exclude")) return null;
  return (
    <>
      <input className={ui.input} style={{ width: "11rem" }} aria-label="Owner of the agents" placeholder="Owner of agents" value={of} onChange={(e) => setOf(e.target.value)} maxLength={200} />
      {of.trim() && <AskBulk project={project} start={{ subject: "agents", action: "exclude", filter: { owner: of.trim() } }} label="Exclude all…" title={`Exclude all agents of ${visible(of.trim())}?`} danger>They are lent no shard of this project any more. It can be undone.</AskBulk>}
      {of.trim() && <AskBulk project={project} start={{ subject: "agents", action: "admit", filter: { owner: of.trim() } }} label="Admit all…" title={`Admit all agents of ${visible(of.trim())}?`}>They are lent shards of this project.</AskBulk>}
    </>
  );
}

/** Ends one sandbox at once; what it has not done is lent again. */
function EndSandbox({ project, box }: { project: string; box: Schemas["Sandbox"] }) {
  const client = useQueryClient();
  return (
    <Ask
      label="End…" title="End this sandbox?" confirm="End it" danger
      onConfirm={async () => {
        await must(api.POST("/v1/projects/{project}/sandboxes/{sandbox}/terminate", { params: { path: { project, sandbox: box.id } }, body: { force: true } }));
        await client.invalidateQueries({ queryKey: ["sandboxes", project] });
      }}
    >
      The agent ends it within moments{box.shard !== undefined && `, in the middle of shard ${digits(box.shard)}`}. What it has not done is lent again; the agent goes on with others.
    </Ask>
  );
}

export function AgentPage() {
  const { project, agent: id } = useParams({ from: "/signed/p/$project/agents/$agent" });
  const every = useEvery(3000);
  const agent = useQuery({
    queryKey: ["agent", project, id],
    queryFn: () => must(api.GET("/v1/projects/{project}/agents/{agent}", { params: { path: { project, agent: id } } })),
    refetchInterval: every,
  });
  const flags = useQuery(flagsQuery(project, { agent: id }));
  const boxes = useQuery({ ...sandboxesQuery(project, { agent: id }), refetchInterval: every });
  const { owner } = useRights();
  const client = useQueryClient();
  return (
    <Loaded query={agent} height={360}>
      {(a) => (
        <div className={ui.page}>
          <div className={ui.title}>
            <h1>{visible(a.name)}</h1>
            <StateOf agent={a} />
            <span className={`${ui.grow} ${ui.muted}`}>{a.last_seen_at && <>seen <When at={a.last_seen_at} bare /></>}</span>
            <Id value={a.id} />
            <AsCalls
              cli={`ostraka agent show ${id} --project ${project}\nostraka sandbox terminate SANDBOX --force`}
              curl={`${curl("GET", `/v1/projects/${project}/agents/${id}`)}\n${curl("POST", `/v1/projects/${project}/sandboxes/SANDBOX/terminate`, { force: true })}`}
            />
            {owner && !a.excluded && (
              <Ask
                label="Exclude…" title={`Exclude ${a.name} from this project?`} confirm="Exclude it" danger reason
                onConfirm={async (reason) => {
                  await must(api.POST("/v1/projects/{project}/agents/{agent}/exclude", { params: { path: { project, agent: id } }, body: { reason } }));
                  await client.invalidateQueries({ queryKey: ["agent", project, id] });
                }}
              >
                It is lent no shard of this project any more; {plural((boxes.data?.items ?? []).filter((b) => b.state === "running").length, "sandbox", "sandboxes")} of it {" "}run now. Results that are accepted stay.
              </Ask>
            )}
            {owner && a.excluded && (
              <Ask
                label="Admit…" title={`Admit ${a.name} to this project?`} confirm="Admit it" reason
                onConfirm={async (reason) => {
                  await must(api.PUT("/v1/projects/{project}/agents/{agent}", { params: { path: { project, agent: id } }, body: { reason } }));
                  await client.invalidateQueries({ queryKey: ["agent", project, id] });
                }}
              >
                It is lent shards of this project again.
              </Ask>
            )}
          </div>
          {a.caught_at && (
            <section className={css.caught} aria-label="Caught">
              <svg className={css.stamp} viewBox="0 0 48 48" aria-hidden="true"><path fill="var(--s-failed)" d="M7 10 26 3l17 13-5 22-20 6L4 30z" /><path d="m16 16 16 16M32 16 16 32" stroke="#fff" strokeWidth="5" strokeLinecap="round" /></svg>
              <div><h2>Caught <When at={a.caught_at} bare /></h2><p>{visible(a.reason ?? `${a.failed} of its answers were wrong`)}. It is lent nothing any more.</p></div>
              <div />
            </section>
          )}
          <div className={css.numbers}>
            <div className={css.number} style={{ gridColumn: "span 2" }}><span>Checks of its answers</span><Evidence agent={a} /></div>
            <div className={css.number}><span>Audits</span><b>{digits(a.audits_passed + a.audits_failed)}</b><small>{digits(a.audits_failed)} failed</small></div>
            <div className={css.number}><span>Passed since the last failure</span><b>{digits(a.since_failure)}</b><small>{a.last_failed_at ? <When at={a.last_failed_at} bare /> : "it never failed"}</small></div>
            <div className={css.number}><span>Shards done</span><b>{digits(a.shards_done)}</b></div>
          </div>
          <div className={css.split}>
            <div className={css.col}>
              <Card title="Sandboxes" flush>
                <Loaded query={boxes} empty={(d) => d.items.length === 0} none={<Nothing title="None has run here lately." />}>
                  {(d) => (
                    <table className={ui.table}>
                      <thead><tr><th>State</th><th>Function</th><th className={ui.num}>CPU</th><th className={ui.num}>Memory</th><th>Started</th><th>End</th>{owner && <th>Actions</th>}</tr></thead>
                      <tbody>
                        {d.items.slice(0, 30).map((b) => (
                          <tr key={b.id}>
                            <td><Pill as={b.state === "running" ? "running" : b.state === "silent" ? "voting" : "cancelled"}>{b.state}</Pill></td>
                            <td><Link to="/p/$project/jobs/$job" params={{ project, job: b.job }}>{b.function}</Link>{b.shard !== undefined && <div className={ui.muted}>shard {digits(b.shard)}</div>}</td>
                            <td className={ui.num}>{b.sample ? `${Math.round(b.sample.cpu_percent)}%` : "–"}</td>
                            <td className={ui.num}>{b.sample ? bytes(b.sample.memory_bytes) : "–"}</td>
                            <td><When at={b.started_at} bare /></td>
                            <td className={ui.muted}>{visible(b.end_reason ?? "")}</td>
                            {owner && <td>{b.state === "running" && <EndSandbox project={project} box={b} />}</td>}
                          </tr>
                        ))}
                      </tbody>
                    </table>
                  )}
                </Loaded>
              </Card>
              <Suspense fallback={<div className={ui.skeleton} style={{ height: 300 }} role="status" aria-label="Loading" />}><AgentCharts project={project} agent={id} /></Suspense>
              <Card title="Flags about it" flush>
                <Loaded query={flags} empty={(d) => d.items.length === 0} none={<Nothing title="Nothing was ever raised about it." />}>
                  {(d) => (
                    <table className={ui.table}><tbody>
                      {d.items.map((f) => <tr key={f.id}><td><Link to="/p/$project/review/$flag" params={{ project, flag: f.id }}>{flagTitle(f, () => a.name)}</Link></td><td className={ui.num}>{digits(f.times)} ×</td><td className={ui.muted}><When at={f.last_at} bare /></td></tr>)}
                    </tbody></table>
                  )}
                </Loaded>
              </Card>
            </div>
            <div className={css.col}>
              {a.idle && <Card title="Why it is idle"><p>{visible(a.idle.text)}</p><p className={ui.muted}>{a.idle.seconds > 0 ? `for ${duration(a.idle.seconds * 1000)}` : ""}</p></Card>}
              {a.volumes && a.volumes.length > 0 && (
                <Card title="Volumes">
                  <dl className={ui.facts}>
                    {a.volumes.map((v) => <Fragment key={v.name}><dt>{visible(v.name)}</dt><dd>{v.mode === "rw" ? "read and write" : "read only"}{v.projects && `, for ${plural(v.projects.length, "project")}`} {v.fingerprint ? <Id value={v.fingerprint} /> : <span className={ui.muted}>no fingerprint yet</span>}</dd></Fragment>)}
                  </dl>
                </Card>
              )}
              <Card title="Machine">
                <dl className={ui.facts}>
                  <dt>Platform</dt><dd>{a.platform.os}/{a.platform.arch}, {a.platform.libc}</dd>
                  <dt>Processors</dt><dd>{a.platform.cpus}</dd>
                  <dt>Memory</dt><dd>{bytes(a.platform.memory_bytes)}{a.host?.memory_free_bytes !== undefined && `, ${bytes(a.host.memory_free_bytes)} free`}</dd>
                  <dt>Load</dt><dd>{a.host?.load1?.toFixed(1) ?? "–"}</dd>
                  <dt>Python</dt><dd>{visible(a.platform.interpreter)}</dd>
                  <dt>Isolation</dt><dd>{a.isolation}, takes {a.min_isolation} or stronger</dd>
                  <dt>Version</dt><dd>{visible(a.host?.version ?? a.platform.agent)}</dd>
                  <dt>Owner</dt><dd>{visible(a.owner ?? "–")}</dd>
                  <dt>Joined</dt><dd><When at={a.created_at} /></dd>
                  {a.eula_digest && <><dt>Agreement</dt><dd><Id value={a.eula_digest} /></dd></>}
                </dl>
              </Card>
            </div>
          </div>
        </div>
      )}
    </Loaded>
  );
}
