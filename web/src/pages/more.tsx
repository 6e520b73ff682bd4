import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";

import { api, must, type Schemas } from "../api/client";
import { bytes, digits, duration } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { Ask, AsCalls, Id, Json, Text, visible, When } from "../ui/bits";
import { AskBulk } from "../ui/bulk";
import { Card, Loaded, Nothing, Trouble } from "../ui/panel";
import { Status } from "../ui/status";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";
import { Sessions } from "./sessions";
import { TryModule } from "./try-module";

export function ModulesPage() {
  const { project } = useParams({ from: "/signed/p/$project/modules" });
  const modules = useQuery({ queryKey: ["modules", project], queryFn: () => must(api.GET("/v1/projects/{project}/modules", { params: { path: { project }, query: { limit: 500 } } })) });
  const { owner } = useRights();
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Modules</h1>
        {owner && <Link className={ui.button} to="/p/$project/push" params={{ project }}>Push…</Link>}
        <AsCalls cli="ostraka module list" curl={curl("GET", `/v1/projects/${project}/modules`)} />
      </div>
      <Card flush>
        <Loaded query={modules} empty={(d) => d.items.length === 0} none={<Nothing title="No module of this project's own."><p>Results are folded by built-in modules: sum, count, count_true, min, max, concat, same, merge.</p><code>ostraka module push FILE.wasm --name NAME --kind aggregator</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th>Module</th><th>Kind</th><th className={ui.num}>Version</th><th className={ui.num}>Size</th><th>Digest</th><th>Pushed</th></tr></thead>
              <tbody>
                {d.items.map((m) => (
                  <tr key={m.id}>
                    <td><Link to="/p/$project/modules/$name" params={{ project, name: m.name }}><strong>{visible(m.name)}</strong></Link> {m.deprecated_at && <Pill as="cancelled">deprecated</Pill>}<div className={ui.muted}>{visible(m.description?.summary ?? "")}</div></td>
                    <td>{m.kind}</td><td className={ui.num}>{m.version}</td><td className={ui.num}>{bytes(m.size)}</td><td><Id value={m.digest} /></td><td><When at={m.created_at} bare /></td>
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

export function ModulePage() {
  const { project, name } = useParams({ from: "/signed/p/$project/modules/$name" });
  const { owner } = useRights();
  const module = useQuery({ queryKey: ["module", project, name], queryFn: () => must(api.GET("/v1/projects/{project}/modules/{name}", { params: { path: { project, name } } })) });
  const runs = useQuery({ queryKey: ["module-runs", project, name], queryFn: () => must(api.GET("/v1/projects/{project}/modules/{name}/runs", { params: { path: { project, name }, query: { limit: 50 } } })) });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{visible(name)}</h1>
        <AsCalls cli={`ostraka module show ${name}`} curl={curl("GET", `/v1/projects/${project}/modules/${name}`)} />
      </div>
      <Card title="What it is"><Loaded query={module}>{(m) => <Json value={m} label="module" />}</Loaded></Card>
      {owner && <TryModule project={project} name={name} />}
      <Card title="Runs that failed, and trial runs" flush>
        <Loaded query={runs} empty={(d) => d.items.length === 0} none={<Nothing title="None is kept." />}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th>When</th><th>Phase</th><th>Class</th><th>Message</th><th className={ui.num}>Took</th><th className={ui.num}>Memory</th></tr></thead>
              <tbody>{d.items.map((r) => <tr key={r.id}><td><When at={r.started_at} bare /></td><td>{r.phase}</td><td>{r.class}</td><td>{visible(r.message ?? "")}</td><td className={ui.num}>{duration(r.wall_ns / 1e6)}</td><td className={ui.num}>{bytes(r.memory)}</td></tr>)}</tbody>
            </table>
          )}
        </Loaded>
      </Card>
    </div>
  );
}

export function RulesPage() {
  const { project } = useParams({ from: "/signed/p/$project/rules" });
  const rules = useQuery({ queryKey: ["rules", project], queryFn: () => must(api.GET("/v1/projects/{project}/rules", { params: { path: { project }, query: { limit: 500 } } })) });
  const { owner } = useRights();
  const client = useQueryClient();
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Rules</h1>
        <AsCalls cli="ostraka rule list" curl={curl("GET", `/v1/projects/${project}/rules`)} />
      </div>
      <Card flush>
        <Loaded query={rules} empty={(d) => d.items.length === 0} none={<Nothing title="No rule yet."><p>A rule makes a job of a job that has finished.</p><code>ostraka rule create examples/rules/prove-sample.json</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th>Rule</th><th>When a job of</th><th>has finished, and</th><th>run</th><th>over</th><th>Actions</th></tr></thead>
              <tbody>
                {d.items.map((r) => (
                  <tr key={r.id}>
                    <td><strong>{visible(r.spec.name)}</strong> {!r.spec.enabled && <Pill as="cancelled">off</Pill>}</td>
                    <td>{visible(r.spec.on_function ?? "any function")}</td>
                    <td><code>{visible(r.spec.when)}</code></td>
                    <td>{visible(r.spec.then.function)}</td>
                    <td><code>{visible(r.spec.then.partition ?? `planner ${r.spec.then.planner ?? ""}`)}</code></td>
                    <td>{owner && (
                      <Ask
                        label={r.spec.enabled ? "Disable…" : "Enable…"} title={`${r.spec.enabled ? "Disable" : "Enable"} ${r.spec.name}?`} confirm={r.spec.enabled ? "Disable it" : "Enable it"}
                        onConfirm={async () => {
                          await must(api.PUT("/v1/projects/{project}/rules/{rule}", { params: { path: { project, rule: r.id }, header: { "If-Match": `"${r.revision}"` } as never }, body: { ...r.spec, enabled: !r.spec.enabled } }));
                          await client.invalidateQueries({ queryKey: ["rules", project] });
                        }}
                      >{r.spec.enabled ? "It makes no more jobs. Those that it made go on." : "It makes jobs of those that finish from now on."}</Ask>
                    )}</td>
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

export function SettingsPage() {
  const { project } = useParams({ from: "/signed/p/$project/settings" });
  const { owner } = useRights();
  const details = useQuery({ queryKey: ["project", project], queryFn: () => must(api.GET("/v1/projects/{project}", { params: { path: { project } } })) });
  const keys = useQuery({ queryKey: ["keys", project], enabled: owner, queryFn: () => must(api.GET("/v1/projects/{project}/keys", { params: { path: { project }, query: { limit: 500 } } })) });
  const tokens = useQuery({ queryKey: ["tokens", project], enabled: owner, queryFn: () => must(api.GET("/v1/projects/{project}/enrolment-tokens", { params: { path: { project }, query: { limit: 500 } } })) });
  const client = useQueryClient();
  const revoke = (id: string) => async () => {
    await must(api.DELETE("/v1/projects/{project}/keys/{key}", { params: { path: { project, key: id } } }));
    await client.invalidateQueries({ queryKey: ["keys", project] });
  };
  return (
    <div className={ui.page}>
      <h1>Settings</h1>
      <Card title="Project">
        <Loaded query={details}>
          {(p) => (
            <dl className={ui.facts}>
              <dt>Name</dt><dd>{visible(p.name)}</dd>
              <dt>ID</dt><dd><Id value={p.id} whole /></dd>
              <dt>Agents of others</dt><dd>{p.agents_open ? "may join" : "are admitted one by one"}</dd>
              <dt>Isolation, at least</dt><dd>{p.min_isolation}</dd>
              <dt>Rules</dt><dd>{p.followups_enabled ? "make jobs" : "are switched off"}</dd>
              <dt>Created</dt><dd><When at={p.created_at} /></dd>
            </dl>
          )}
        </Loaded>
      </Card>
      {owner && <NewKey project={project} />}
      {owner && (
        <Card title="Keys" flush>
          <Loaded query={keys}>
            {(d) => (
              <table className={ui.table}>
                <thead><tr><th>Name</th><th>Role</th><th>Created</th><th>Ends</th><th>ID</th><th>Actions</th></tr></thead>
                <tbody>{d.items.map((k) => (
                  <tr key={k.id}><td>{visible(k.name)}</td><td>{k.role}</td><td><When at={k.created_at} bare /></td><td>{k.revoked_at ? "revoked" : k.expires_at ? <When at={k.expires_at} /> : "never"}</td><td><Id value={k.id} /></td>
                    <td>{!k.revoked_at && <Ask label="Revoke…" title={`Revoke the key ${k.name}?`} confirm="Revoke it" danger onConfirm={revoke(k.id)}>Whoever uses it is refused from now on, sessions of browsers too.</Ask>}</td></tr>
                ))}</tbody>
              </table>
            )}
          </Loaded>
        </Card>
      )}
      {owner && (
        <Card title="Tokens for agents to join" flush>
          <Loaded query={tokens} empty={(d) => d.items.length === 0} none={<Nothing title="None yet."><code>ostraka token create NAME</code></Nothing>}>
            {(d) => (
              <table className={ui.table}><thead><tr><th>Name</th><th>Owner</th><th>Created</th><th>Ends</th></tr></thead>
                <tbody>{d.items.map((t) => <tr key={t.id}><td>{visible(t.name)}</td><td>{visible(t.owner ?? "–")}</td><td><When at={t.created_at} bare /></td><td>{t.revoked_at ? "revoked" : t.expires_at ? <When at={t.expires_at} /> : "never"}</td></tr>)}</tbody></table>
            )}
          </Loaded>
        </Card>
      )}
      <Sessions />
      {owner && <Switches project={project} />}
    </div>
  );
}

function NewKey({ project }: { project: string }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<"owner" | "submitter" | "viewer" | "auditor" | "reviewer">("viewer");
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  return (
    <Card title="New key">
      <form
        className={ui.row}
        onSubmit={(e) => {
          e.preventDefault();
          setError(undefined);
          must(api.POST("/v1/projects/{project}/keys", { params: { path: { project } }, body: { name, role } })).then((k) => {
            setMade(k.secret);
            setName("");
            void client.invalidateQueries({ queryKey: ["keys", project] });
          }, setError);
        }}
      >
        <input className={ui.input} style={{ width: "16rem" }} aria-label="Name of the key" placeholder="What it is for" value={name} onChange={(e) => setName(e.target.value)} required />
        <select className={ui.input} style={{ width: "10rem" }} aria-label="Role" value={role} onChange={(e) => setRole(e.target.value as typeof role)}><option>viewer</option><option>submitter</option><option>reviewer</option><option>auditor</option><option>owner</option></select>
        <button type="submit" className={ui.button}>Create</button>
      </form>
      {made && <div style={{ marginTop: "0.7rem" }}><p><strong>It is shown this once:</strong></p><Text text={made} label="new key" /></div>}
      {error !== undefined && <Trouble error={error} />}
    </Card>
  );
}

function Switches({ project }: { project?: string }) {
  const client = useQueryClient();
  const key = ["switches", project ?? "all"];
  const switches = useQuery({
    queryKey: key,
    queryFn: () => (project ? must(api.GET("/v1/projects/{project}/killswitches", { params: { path: { project } } })) : must(api.GET("/v1/killswitches"))),
    refetchInterval: useEvery(2000),
  });
  const on = (switches.data?.items ?? []).filter((s) => !s.off_at);
  const scope = project ? "project" : "everything";
  return (
    <Card
      title="Kill switch"
      aside={
        <Ask
          label="Stop everything…" title={project ? "Stop everything of this project?" : "Stop everything of this installation?"} confirm="Stop it" danger reason
          onConfirm={async (reason) => {
            if (project) await must(api.POST("/v1/projects/{project}/killswitches/on", { params: { path: { project } }, body: { scope: "project", reason } }));
            else await must(api.POST("/v1/killswitches/on", { body: { scope: "everything", reason } }));
            await client.invalidateQueries({ queryKey: key });
          }}
        >
          Nothing is lent, every sandbox is ended, and agents confirm it one by one. Jobs stay; they go on when the switch is off again.
        </Ask>
      }
    >
      <Loaded query={switches} empty={() => on.length === 0} none={<p className={ui.muted}>Nothing is switched off.</p>}>
        {() => on.map((s) => (
          <div key={s.id} className={ui.stack} style={{ marginBottom: "0.8rem" }}>
            <div className={ui.row}>
              <Pill as="failed">{s.scope === "function" ? `function ${s.function}` : s.scope}</Pill>
              <span>{visible(s.reason || "no reason given")}</span>
              <span className={ui.muted}><When at={s.on_at} bare />, by {s.on_by}</span>
              <Ask
                label="Release…" title="Let it run again?" confirm="Release"
                onConfirm={async () => {
                  if (project) await must(api.POST("/v1/projects/{project}/killswitches/off", { params: { path: { project } }, body: { scope: s.scope as "project", function: s.function, version: s.version } }));
                  else await must(api.POST("/v1/killswitches/off", { body: { scope: s.scope, function: s.function, version: s.version, project: s.project } }));
                  await client.invalidateQueries({ queryKey: key });
                }}
              >Shards are lent again at once.</Ask>
            </div>
            <p><strong>{digits(s.confirmed)} of {digits(s.agents)} agents have confirmed</strong>{s.unconfirmed > 0 ? `, ${digits(s.unconfirmed)} have not yet` : ""}{s.offline > 0 ? `, ${digits(s.offline)} are away` : ""}. {digits(s.sandboxes)} sandboxes and {digits(s.leases)} leases were held. Scope: {scope}.</p>
            {s.waiting.length > 0 && <p className={ui.muted}>Waiting for {s.waiting.map((a) => visible(a.name)).join(", ")}</p>}
          </div>
        ))}
      </Loaded>
    </Card>
  );
}

export function SystemPage() {
  const every = useEvery(5000);
  const { operator } = useRights();
  const health = useQuery({
    queryKey: ["ready"], refetchInterval: every,
    queryFn: async () => (await (await fetch("/readyz")).json()) as Schemas["Health"],
  });
  const projects = useQuery({ queryKey: ["projects"], enabled: operator, queryFn: () => must(api.GET("/v1/projects", { params: { query: { limit: 500 } } })) });
  const agents = useQuery({ queryKey: ["all-agents"], enabled: operator, refetchInterval: every, queryFn: () => must(api.GET("/v1/agents", { params: { query: { limit: 500 } } })) });
  const client = useQueryClient();
  const act = (what: "approve" | "drain" | "quarantine" | "resume" | "revoke", agent: string) => async (reason: string) => {
    await must(api.POST(`/v1/agents/{agent}/${what}` as "/v1/agents/{agent}/drain", { params: { path: { agent } }, body: { reason } }));
    await client.invalidateQueries({ queryKey: ["all-agents"] });
  };
  const versions = [...new Set((agents.data?.items ?? []).filter((a) => a.state === "active").map((a) => a.host?.version ?? a.platform.agent))];
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>System</h1>
        {operator && <a className={ui.button} href="/ops/river/">River</a>}
        <a className={ui.button} href="/docs">API</a>
      </div>
      <Card title="Health">
        <Loaded query={health}>
          {(h) => (
            <div className={ui.row}>
              <Pill as={h.status === "ok" ? "accepted" : "failed"}>{h.status}</Pill>
              {Object.entries(h.checks ?? {}).map(([k, v]) => <Pill key={k} as={v === "ok" ? "accepted" : "failed"}>{`${k}: ${v}`}</Pill>)}
            </div>
          )}
        </Loaded>
        {versions.length > 1 && <p style={{ marginTop: "0.6rem" }}>Agents of {versions.length} versions are at work: {versions.map((v) => visible(v)).join(", ")}.</p>}
      </Card>
      {operator && <Status />}
      {operator && <Sessions />}
      {operator && <Switches />}
      {operator && (
        <Card
          title="Agents" flush
          aside={(
            <div className={ui.row}>
              <AskBulk start={{ subject: "agents", action: "approve", filter: {}, all: true }} label="Approve all…" title="Approve all agents that wait?">They are lent shards from now on.</AskBulk>
              <AskBulk start={{ subject: "agents", action: "drain", filter: {}, all: true }} label="Drain all…" title="Drain all agents at work?" danger>They end what they have and get nothing new. It can be undone.</AskBulk>
              <AskBulk start={{ subject: "agents", action: "resume", filter: {}, all: true }} label="Resume all…" title="Resume all drained and quarantined agents?">They are lent shards again.</AskBulk>
            </div>
          )}
        >
          <Loaded query={agents} empty={(d) => d.items.length === 0} none={<Nothing title="No agent has joined." />}>
            {(d) => (
              <table className={ui.table}>
                <thead><tr><th>Agent</th><th>State</th><th>Owner</th><th>Version</th><th>Seen</th><th>Decide</th></tr></thead>
                <tbody>
                  {[...d.items].sort((a, b) => Number(b.state === "pending") - Number(a.state === "pending") || a.name.localeCompare(b.name)).map((a) => (
                    <tr key={a.id}>
                      <td><strong>{visible(a.name)}</strong> <Id value={a.id} /></td>
                      <td><Pill as={a.state === "active" ? "accepted" : a.state === "pending" ? "waiting" : "cancelled"}>{a.state}</Pill> <span className={ui.muted}>{visible(a.state_reason ?? "")}</span></td>
                      <td>{visible(a.owner ?? "–")}</td>
                      <td>{visible(a.host?.version ?? a.platform.agent)}</td>
                      <td>{a.last_seen_at ? <When at={a.last_seen_at} bare /> : "never"}</td>
                      <td><div className={ui.row}>
                        {a.state === "pending" && <Ask label="Approve…" title={`Approve ${a.name}?`} confirm="Approve" reason onConfirm={act("approve", a.id)}>It is lent shards from now on.</Ask>}
                        {a.state === "active" && <Ask label="Drain…" title={`Drain ${a.name}?`} confirm="Drain" reason onConfirm={act("drain", a.id)}>It ends what it has and gets nothing new.</Ask>}
                        {a.state === "active" && <Ask label="Quarantine…" title={`Quarantine ${a.name}?`} confirm="Quarantine" danger reason onConfirm={act("quarantine", a.id)}>Its sandboxes are ended now, and its leases are lent to others.</Ask>}
                        {(a.state === "draining" || a.state === "quarantined") && <Ask label="Resume…" title={`Resume ${a.name}?`} confirm="Resume" reason onConfirm={act("resume", a.id)}>It is lent shards again.</Ask>}
                        {a.state !== "revoked" && <Ask label="Revoke…" title={`Revoke ${a.name}?`} confirm="Revoke" danger reason onConfirm={act("revoke", a.id)}>Its key is refused for good. This cannot be taken back.</Ask>}
                      </div></td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Loaded>
        </Card>
      )}
      {operator && (
        <Card title="Projects" flush>
          <Loaded query={projects}>
            {(d) => <table className={ui.table}><thead><tr><th>Name</th><th>ID</th><th>Created</th></tr></thead><tbody>{d.items.map((p) => <tr key={p.id}><td>{visible(p.name)}</td><td><Id value={p.id} /></td><td><When at={p.created_at} /></td></tr>)}</tbody></table>}
          </Loaded>
        </Card>
      )}
    </div>
  );
}
