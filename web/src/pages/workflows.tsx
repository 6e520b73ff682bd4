import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";

import { api, must, type Schemas } from "../api/client";
import { digits } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { Ask, AsCalls, Id, Json, Text, visible, When } from "../ui/bits";
import { Card, Loaded, Nothing, Trouble } from "../ui/panel";
import { JobPill, Pill, Progress, type Shown } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";

const runStates: Record<Schemas["WorkflowRun"]["state"], Shown> = { running: "running", paused: "review", finished: "accepted", failed: "failed", cancelled: "cancelled" };
const stepStates: Record<Schemas["RunStep"]["state"], Shown> = { waiting: "waiting", running: "running", finished: "accepted", failed: "failed", skipped: "cancelled", cancelled: "cancelled" };

export function WorkflowsPage() {
  const { project } = useParams({ from: "/signed/p/$project/workflows" });
  const workflows = useQuery({ queryKey: ["workflows", project], queryFn: () => must(api.GET("/v1/projects/{project}/workflows", { params: { path: { project }, query: { limit: 500 } } })) });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Workflows</h1>
        <AsCalls cli="ostraka workflow list" curl={curl("GET", `/v1/projects/${project}/workflows`)} />
      </div>
      <Card flush>
        <Loaded query={workflows} empty={(d) => d.items.length === 0} none={<Nothing title="No workflow yet."><p>A workflow is a folder of functions, of the jobs that run them, and of what must hold between their answers.</p><code>ostraka workflow push examples/workflow-bpsw</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th scope="col">Workflow</th><th scope="col" className={ui.num}>Version</th><th scope="col">Functions</th><th scope="col" className={ui.num}>Runs at work</th><th scope="col">Pushed</th></tr></thead>
              <tbody>
                {d.items.map((w) => (
                  <tr key={w.name}>
                    <td><Link to="/p/$project/workflows/$name" params={{ project, name: w.name }}><strong>{visible(w.name)}</strong></Link><div className={ui.muted}>{visible(w.description ?? "")}</div></td>
                    <td className={ui.num}>{w.version}</td>
                    <td>{w.functions.map((f) => `${visible(f.function)} v${f.version}`).join(", ")}</td>
                    <td className={ui.num}>{digits(w.open_runs)}</td>
                    <td><When at={w.pushed_at} bare /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
      </Card>
      <Runs project={project} />
    </div>
  );
}

/** The newest runs, of one workflow or of all. */
function Runs({ project, workflow }: { project: string; workflow?: string }) {
  const runs = useQuery({
    queryKey: ["workflow-runs", project, workflow], refetchInterval: useEvery(3000),
    queryFn: () => must(api.GET("/v1/projects/{project}/workflow-runs", { params: { path: { project }, query: { limit: 50, workflow } } })),
  });
  return (
    <Card title="Newest runs" flush>
      <Loaded query={runs} empty={(d) => d.items.length === 0} none={<Nothing title="No run yet." />}>
        {(d) => (
          <table className={ui.table}>
            <thead><tr><th scope="col">State</th><th scope="col">Workflow</th><th scope="col">With</th><th scope="col">Started</th><th scope="col">Run</th></tr></thead>
            <tbody>
              {d.items.map((r) => (
                <tr key={r.id}>
                  <td><Pill as={runStates[r.state]}>{r.state}</Pill></td>
                  <td>{visible(r.workflow)} <span className={ui.muted}>v{r.version}</span></td>
                  <td className="mono">{visible(Object.entries(r.parameters).map(([k, v]) => `${k}=${String(v)}`).join(" "))}</td>
                  <td><When at={r.started_at} bare /></td>
                  <td><Link to="/p/$project/workflow-runs/$run" params={{ project, run: r.id }}>{r.id}</Link></td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Card>
  );
}

export function WorkflowPage() {
  const { project, name } = useParams({ from: "/signed/p/$project/workflows/$name" });
  const { submit } = useRights();
  const workflow = useQuery({ queryKey: ["workflow", project, name], queryFn: () => must(api.GET("/v1/projects/{project}/workflows/{name}", { params: { path: { project, name } } })) });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{visible(name)}</h1>
        <AsCalls cli={`ostraka workflow show ${name}`} curl={curl("GET", `/v1/projects/${project}/workflows/${name}`)} />
      </div>
      <Loaded query={workflow}>
        {(w) => (
          <>
            {submit && <Start key={w.version} project={project} workflow={w} />}
            <Runs project={project} workflow={name} />
            <Card title="Steps" flush>
              <table className={ui.table}>
                <thead><tr><th scope="col">Step</th><th scope="col">Type</th><th scope="col">Needs</th><th scope="col">Does</th></tr></thead>
                <tbody>
                  {w.steps.map((s) => (
                    <tr key={s.name}>
                      <td><strong>{visible(s.name)}</strong></td><td>{s.type}</td><td>{s.needs?.map(visible).join(", ") || "–"}</td>
                      <td>{s.type === "check" ? <><code>{visible(s.when ?? "")}</code><div className={ui.muted}>or else: {visible(s.message ?? "")}</div></> : <>runs {visible(s.function ?? "")}</>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Card>
            <Card title="Functions" flush>
              <table className={ui.table}>
                <thead><tr><th scope="col">Name</th><th scope="col">Function</th><th scope="col">Digest</th></tr></thead>
                <tbody>{w.functions.map((f) => <tr key={f.name}><td>{visible(f.name)}</td><td><Link to="/p/$project/functions/$name/v/$version" params={{ project, name: f.function, version: String(f.version) }}>{visible(f.function)} v{f.version}</Link></td><td><Id value={f.digest} /></td></tr>)}</tbody>
              </table>
            </Card>
            <Card title={`workflow.toml, version ${w.version}`}><Text text={w.definition} label="definition" /></Card>
          </>
        )}
      </Loaded>
    </div>
  );
}

/** A form with a field for each parameter. What is left as it is takes its default. */
function Start({ project, workflow: w }: { project: string; workflow: Schemas["WorkflowDetail"] }) {
  const navigate = useNavigate();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const start = (form: FormData) => {
    const parameters: Record<string, unknown> = {};
    for (const p of w.parameters) {
      const text = String(form.get(p.name) ?? "").trim();
      if (text === "") continue;
      // Integers are sent as they were typed: 2^64+13 is one, and no number of JavaScript holds it.
      parameters[p.name] = p.type === "boolean" ? text === "true" : p.type === "number" ? Number(text) : text;
    }
    setBusy(true);
    setError(undefined);
    must(api.POST("/v1/projects/{project}/workflows/{name}/runs", { params: { path: { project, name: w.name } }, body: { version: w.version, parameters: parameters as never } }))
      .then((run) => navigate({ to: "/p/$project/workflow-runs/$run", params: { project, run: run.id } }), setError)
      .finally(() => setBusy(false));
  };
  return (
    <Card title="Start a run">
      <form className={ui.stack} onSubmit={(e) => { e.preventDefault(); start(new FormData(e.currentTarget)); }}>
        {w.parameters.map((p) => (
          <label key={p.name} className={ui.field}>
            <span>{visible(p.name)} <span className={ui.muted}>{p.type}{p.description ? `: ${visible(p.description)}` : ""}</span></span>
            {p.enum || p.type === "boolean" ? (
              <select className={ui.input} name={p.name} defaultValue=""><option value="">{`default: ${String(p.default ?? "none")}`}</option>{(p.enum ?? [true, false]).map((v) => <option key={String(v)}>{String(v)}</option>)}</select>
            ) : (
              <input className={ui.input} name={p.name} placeholder={p.default === undefined ? "" : String(p.default)} required={p.default === undefined} />
            )}
          </label>
        ))}
        <div className={ui.row}><button type="submit" className={`${ui.button} ${ui.primary}`} disabled={busy}>Start</button></div>
        {error !== undefined && <Trouble error={error} />}
      </form>
    </Card>
  );
}

export function WorkflowRunPage() {
  const { project, run } = useParams({ from: "/signed/p/$project/workflow-runs/$run" });
  const detail = useQuery({
    queryKey: ["workflow-run", project, run], refetchInterval: useEvery(2000),
    queryFn: () => must(api.GET("/v1/projects/{project}/workflow-runs/{run}", { params: { path: { project, run } } })),
  });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{visible(detail.data?.workflow ?? "Run")}</h1>
        <AsCalls cli={`ostraka workflow run ${run}`} curl={curl("GET", `/v1/projects/${project}/workflow-runs/${run}`)} />
      </div>
      <Loaded query={detail}>
        {(r) => (
          <>
            <Card title="Run" aside={<Decide project={project} run={r} />}>
              <dl className={ui.facts}>
                <dt>State</dt><dd><Pill as={runStates[r.state]}>{r.state}</Pill> {visible(r.error ?? "")}</dd>
                <dt>Workflow</dt><dd><Link to="/p/$project/workflows/$name" params={{ project, name: r.workflow }}>{visible(r.workflow)}</Link> v{r.version}</dd>
                <dt>Started</dt><dd><When at={r.started_at} />, by {visible(r.started_by)}</dd>
                {r.ended_at && <><dt>Ended</dt><dd><When at={r.ended_at} /></dd></>}
                <dt>ID</dt><dd><Id value={r.id} whole /></dd>
              </dl>
            </Card>
            <Card title="Steps" flush>
              <table className={ui.table}>
                <thead><tr><th scope="col">Step</th><th scope="col">State</th><th scope="col">Needs</th><th scope="col">Job</th><th scope="col">Because</th></tr></thead>
                <tbody>
                  {r.steps.map((s) => (
                    <tr key={s.name}>
                      <td><strong>{visible(s.name)}</strong> <span className={ui.muted}>{s.type}</span></td>
                      <td><Pill as={stepStates[s.state]}>{s.state}</Pill></td>
                      <td>{s.needs?.map(visible).join(", ") || "–"}</td>
                      <td>{s.job ? <><Link to="/p/$project/jobs/$job" params={{ project, job: s.job }}>{s.job}</Link> {s.job_state && <JobPill state={s.job_state} />}{s.shards && <Progress counts={s.shards} />}</> : "–"}</td>
                      <td>{visible(s.error ?? "")}{s.approval && <Link to="/p/$project/approvals" params={{ project }}>waits for somebody's yes</Link>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Card>
            <Card title="With"><Json value={r.parameters} label="parameters" /></Card>
          </>
        )}
      </Loaded>
    </div>
  );
}

/** What a submitter may do with a run. */
function Decide({ project, run: r }: { project: string; run: Schemas["WorkflowRunDetail"] }) {
  const { submit } = useRights();
  const client = useQueryClient();
  if (!submit || (r.state !== "running" && r.state !== "paused")) return null;
  const act = (what: "pause" | "resume" | "cancel") => async () => {
    await must(api.POST(`/v1/projects/{project}/workflow-runs/{run}/${what}` as "/v1/projects/{project}/workflow-runs/{run}/pause", { params: { path: { project, run: r.id } } }));
    await client.invalidateQueries({ queryKey: ["workflow-run", project] });
  };
  return (
    <div className={ui.row}>
      {r.state === "running" && <Ask label="Pause…" title="Pause this run?" confirm="Pause it" onConfirm={act("pause")}>No further step begins. Jobs that run go on.</Ask>}
      {r.state === "paused" && <Ask label="Resume…" title="Resume this run?" confirm="Resume it" onConfirm={act("resume")}>Its steps begin again.</Ask>}
      <Ask label="Cancel…" title="Cancel this run?" confirm="Cancel it" danger onConfirm={act("cancel")}>No further step begins, and its jobs are cancelled. This cannot be taken back.</Ask>
    </div>
  );
}
