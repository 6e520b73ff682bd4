import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Fragment, useMemo, useState, type ReactNode } from "react";

import css from "./functions.module.css";
import { api, must, type Schemas } from "../api/client";
import { agentsQuery } from "../api/reads";
import { bytes, digits, duration, plural } from "../lib/format";
import { policyWords } from "../lib/words";
import { Ask, AsCalls, Id, Json, visible, When } from "../ui/bits";
import { Card, Loaded, Nothing } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { bundleQuery, curl, useRights } from "./common";
import { JobTable } from "./jobs";
import { VersionDiff } from "./version-diff";

export function FunctionsPage() {
  const { project } = useParams({ from: "/signed/p/$project/functions" });
  const functions = useQuery({
    queryKey: ["functions", project],
    queryFn: () => must(api.GET("/v1/projects/{project}/functions", { params: { path: { project }, query: { limit: 500 } } })),
  });
  const { owner, submit } = useRights();
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Functions</h1>
        {owner && <Link className={ui.button} to="/p/$project/push" params={{ project }}>Push…</Link>}
        <AsCalls cli="ostraka function list" curl={curl("GET", `/v1/projects/${project}/functions`)} />
      </div>
      <Card flush>
        <Loaded query={functions} empty={(d) => d.items.length === 0} none={<Nothing title="No function yet."><p>A function is a folder with a function.toml and Python.</p><code>ostraka function push FOLDER</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th>Function</th><th>What it does</th><th className={ui.num}>Version</th><th>Digest</th><th>Pushed</th><th>Actions</th></tr></thead>
              <tbody>
                {d.items.map((f) => (
                  <tr key={f.name}>
                    <td><Link to="/p/$project/functions/$name" params={{ project, name: f.name }}><strong>{visible(f.name)}</strong></Link></td>
                    <td className={ui.muted}>{visible(f.manifest.description ?? "")}</td>
                    <td className={ui.num}>{f.version}</td>
                    <td><Id value={f.digest} /></td>
                    <td><When at={f.created_at} bare /></td>
                    <td className={ui.num}>{submit && <Link className={`${ui.button} ${ui.small}`} to="/p/$project/run" params={{ project }} search={{ function: f.name }}>Run…</Link>}</td>
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

const versionsQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["versions", project, name],
    queryFn: () => must(api.GET("/v1/projects/{project}/functions/{name}/versions", { params: { path: { project, name }, query: { limit: 500 } } })),
  });

export function FunctionPage() {
  const { project, name } = useParams({ from: "/signed/p/$project/functions/$name" });
  const versions = useQuery(versionsQuery(project, name));
  const runs = useQuery({
    queryKey: ["runs", project, name],
    queryFn: () => must(api.GET("/v1/projects/{project}/jobs", { params: { path: { project }, query: { function: name, limit: 20 } } })),
  });
  const { submit } = useRights();
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{visible(name)}</h1>
        <AsCalls cli={`ostraka function show ${name}`} curl={curl("GET", `/v1/projects/${project}/functions/${name}/versions`)} />
        {submit && <Link className={`${ui.button} ${ui.primary}`} to="/p/$project/run" params={{ project }} search={{ function: name }}>Run…</Link>}
      </div>
      <Card title="Versions" flush>
        <Loaded query={versions}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th>Version</th><th>Digest</th><th className={ui.num}>Size</th><th>Signed</th><th>Pushed</th></tr></thead>
              <tbody>
                {d.items.map((v) => (
                  <tr key={v.version}>
                    <td><Link to="/p/$project/functions/$name/v/$version" params={{ project, name, version: String(v.version) }}>Version {v.version}</Link></td>
                    <td><Id value={v.digest} /></td>
                    <td className={ui.num}>{bytes(v.size)}</td>
                    <td>{v.signed_by !== undefined ? `key ${v.signed_by}` : <span className={ui.muted}>no</span>}</td>
                    <td><When at={v.created_at} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
      </Card>
      <Card title="Jobs" flush>
        <Loaded query={runs} empty={(d) => d.items.length === 0} none={<Nothing title="It has not run yet." />}>{(d) => <JobTable project={project} items={d.items} />}</Loaded>
      </Card>
    </div>
  );
}

export function VersionPage() {
  const { project, name, version } = useParams({ from: "/signed/p/$project/functions/$name/v/$version" });
  const number = Number(version);
  const path = { project, name, version: number };
  const query = useQuery({ queryKey: ["version", project, name, number], queryFn: () => must(api.GET("/v1/projects/{project}/functions/{name}/versions/{version}", { params: { path } })) });
  const review = useQuery({ queryKey: ["code-review", project, name, number], queryFn: () => must(api.GET("/v1/projects/{project}/functions/{name}/versions/{version}/review", { params: { path } })) });
  const findings = useQuery({
    queryKey: ["findings", project, name, number],
    queryFn: () => must(api.GET("/v1/projects/{project}/findings", { params: { path: { project }, query: { function: name, version: number, limit: 500 } } })),
  });
  const { owner, submit } = useRights();
  const search = useSearch({ strict: false }) as { against?: string };
  const against = /^[1-9]\d{0,8}$/.test(search.against ?? "") ? Number(search.against) : undefined;
  const client = useQueryClient();
  const decide = (decision: "allow" | "refuse") => async (reason: string) => {
    await must(api.POST("/v1/projects/{project}/functions/{name}/versions/{version}/review", { params: { path }, body: { decision, reason } }));
    await client.invalidateQueries({ queryKey: ["code-review", project, name, number] });
  };
  return (
    <Loaded query={query} height={420}>
      {(v) => (
        <div className={ui.page}>
          <div className={ui.title}>
            <h1>{visible(name)} <span className={ui.muted}>version {v.version}</span></h1>
            {review.data?.held && <Pill as="review">{review.data.held === "review" ? "waits for a person" : "being scored"}</Pill>}
            <span className={`${ui.grow} ${ui.muted}`}>{visible(v.manifest.description ?? "")}</span>
            <Id value={v.digest} />
            <AsCalls cli={`ostraka function show ${name} --version ${v.version}`} curl={curl("GET", `/v1/projects/${project}/functions/${name}/versions/${v.version}`)} />
            {owner && review.data?.held === "review" && (
              <>
                <Ask label="Allow…" title={`Allow ${name} version ${v.version}?`} confirm="Allow it" reason onConfirm={decide("allow")}>Jobs of this version are lent to agents.</Ask>
                <Ask label="Refuse…" title={`Refuse ${name} version ${v.version}?`} confirm="Refuse it" reason danger onConfirm={decide("refuse")}>No job of this version runs.</Ask>
              </>
            )}
            <Compare project={project} name={name} version={number} against={against} />
            {submit && <Link className={`${ui.button} ${ui.primary}`} to="/p/$project/run" params={{ project }} search={{ function: name, version: String(v.version) }}>Run…</Link>}
          </div>
          {against && number !== against
            ? <VersionDiff project={project} name={name} version={number} digest={v.digest} against={against} />
            : <Code project={project} digest={v.digest} findings={findings.data?.items.filter((f) => f.file) ?? []} />}
          {(findings.data?.items.length ?? 0) > 0 && (
            <Card title="Findings" flush>
              <table className={ui.table}>
                <thead><tr><th>Heuristic</th><th className={ui.num}>Score</th><th>Where</th><th>What</th></tr></thead>
                <tbody>
                  {findings.data!.items.map((f) => (
                    <tr key={f.id}><td>{visible(f.heuristic)}</td><td className={ui.num}>{f.score}</td><td>{visible(f.file ?? (f.shard !== undefined ? `shard ${f.shard}` : ""))}</td><td>{visible(f.explanation ?? f.labels.join(", "))}</td></tr>
                  ))}
                </tbody>
              </table>
            </Card>
          )}
          <div className={css.two}>
            <Card title="Limits of one shard">
              <dl className={ui.facts}>
                <dt>Time</dt><dd>{duration(v.manifest.limits.wall_seconds * 1000)}, {duration(v.manifest.limits.cpu_seconds * 1000)} of processor</dd>
                <dt>Memory</dt><dd>{bytes(v.manifest.limits.memory_bytes)}</dd>
                <dt>Disk</dt><dd>{bytes(v.manifest.limits.disk_bytes)}</dd>
                <dt>Output</dt><dd>{bytes(v.manifest.limits.output_bytes)}</dd>
                <dt>Processes</dt><dd>{digits(v.manifest.limits.pids)}</dd>
                <dt>Network</dt><dd>{visible(v.manifest.network)}</dd>
                <dt>Isolation, at least</dt><dd>{visible(v.manifest.min_isolation)}</dd>
              </dl>
            </Card>
            {v.manifest.volumes && v.manifest.volumes.length > 0 && <Volumes project={project} volumes={v.manifest.volumes} />}
            <Card title="How its results are checked">
              <p>{policyWords(v.manifest.verification as Schemas["Policy"])}</p>
              {review.data?.scores.map((s) => <p key={s.heuristic} className={ui.muted}>{visible(s.heuristic)}: {s.error ? visible(s.error) : `score ${s.score ?? "–"}`} {s.decision ?? ""}</p>)}
            </Card>
          </div>
          <Card title="Manifest"><details><summary>As the server keeps it</summary><Json value={v.manifest} label="manifest" /></details></Card>
        </div>
      )}
    </Loaded>
  );
}

/** Chooses the version to compare with. */
function Compare({ project, name, version, against }: { project: string; name: string; version: number; against?: number }) {
  const navigate = useNavigate();
  const versions = useQuery(versionsQuery(project, name));
  const others = versions.data?.items.filter((v) => v.version !== version) ?? [];
  if (others.length === 0) return null;
  return (
    <label className={ui.row}>
      <span className={ui.muted}>Compare with</span>
      <select className={ui.input} style={{ width: "auto" }} value={against ?? ""} onChange={(e) => void navigate({ to: ".", search: { against: e.target.value || undefined } as never })}>
        <option value="">nothing</option>
        {others.map((v) => <option key={v.version} value={v.version}>version {v.version}</option>)}
      </select>
    </label>
  );
}

function Code({ project, digest, findings }: { project: string; digest: string; findings: Schemas["HeuristicFinding"][] }) {
  const bundle = useQuery(bundleQuery(project, digest));
  const { file } = useSearch({ strict: false }) as { file?: string };
  return (
    <Card title="Code" aside={<span className={ui.muted}>unpacked in this browser from the bytes that agents get</span>}>
      <Loaded query={bundle} height={300} empty={(d) => d.length === 0} none={<Nothing title="The bundle is empty." />}>
        {(files) => {
          const shown = files.find((f) => f.path === file) ?? files.find((f) => f.path.endsWith("main.py")) ?? files[0]!;
          return (
            <div className={ui.stack}>
              <nav className={css.files} aria-label="Files">
                {files.map((f) => <Link key={f.path} className={`${ui.button} ${ui.small}`} to="." search={{ file: f.path }} aria-current={f === shown ? "page" : undefined} style={f === shown ? { borderColor: "var(--accent)" } : undefined}>{visible(f.path)}</Link>)}
              </nav>
              {shown.binary ? <p>binary, {plural(shown.bytes.length, "byte")}</p> : <Source text={shown.text} python={shown.path.endsWith(".py")} findings={findings.filter((f) => f.file === shown.path)} />}
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}

const linesShown = 2000;

function Source({ text, python, findings }: { text: string; python: boolean; findings: Schemas["HeuristicFinding"][] }) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => text.split("\n"), [text]);
  const notes = new Map<number, string[]>();
  for (const f of findings) for (const p of f.places) if (p.line !== undefined) notes.set(p.line, [...(notes.get(p.line) ?? []), `${f.heuristic}: ${p.what ?? p.label ?? f.explanation ?? ""}`]);
  return (
    <>
      <div className={css.code} tabIndex={0} role="region" aria-label="Source">
        {lines.slice(0, all ? undefined : linesShown).map((line, i) => (
          <div key={i} className={`${css.line} ${notes.has(i + 1) ? css.found : ""}`} style={{ display: "contents" }}>
            <span>{i + 1}</span>
            <span>{python ? coloured(visible(line.slice(0, 2000))) : visible(line.slice(0, 2000))}{line.length > 2000 && "…"}{line === "" && " "}</span>
            {notes.get(i + 1)?.map((n, k) => <div key={k} className={css.margin}>{visible(n)}</div>)}
          </div>
        ))}
      </div>
      {lines.length > linesShown && !all && <button type="button" className={ui.button} onClick={() => setAll(true)}>Showing {digits(linesShown)} of {digits(lines.length)} lines: show all</button>}
    </>
  );
}

const token = /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(def|return|import|from|for|in|if|elif|else|while|not|and|or|class|with|as|try|except|finally|raise|lambda|None|True|False|yield|pass|break|continue|is|assert|async|await|global|nonlocal|del)\b|\b(\d[\w.]*)\b/g;

/** Colours a line of Python: enough for reading, and nothing depends on it. */
function coloured(line: string): ReactNode[] {
  const out: ReactNode[] = [];
  let at = 0;
  for (const m of line.matchAll(token)) {
    out.push(line.slice(at, m.index));
    out.push(<span key={m.index} className={m[1] ? css.com : m[2] ? css.str : m[3] ? css.kw : css.num}>{m[0]}</span>);
    at = m.index + m[0].length;
  }
  out.push(line.slice(at));
  return out;
}

/** The folders that a function reads, and which agents have them. */
function Volumes({ project, volumes }: { project: string; volumes: Schemas["Volume"][] }) {
  const agents = useQuery(agentsQuery(project));
  const holds = (a: Schemas["ProjectAgent"], v: Schemas["Volume"]) =>
    a.volumes?.some((h) => h.name === v.name && h.mode === v.mode && (!v.fingerprint || h.fingerprint === v.fingerprint) && (!h.projects || h.projects.includes(project)));
  return (
    <Card title="Volumes">
      <dl className={ui.facts}>
        {volumes.map((v) => (
          <Fragment key={v.name}>
            <dt>{visible(v.name)}</dt>
            <dd>
              {v.mode === "rw" ? "read and write" : "read only"} {v.fingerprint && <Id value={v.fingerprint} />}
              <Loaded query={agents} height={20}>
                {(all) => {
                  const those = all.filter((a) => holds(a, v));
                  return <p>{those.length === 0 ? "No agent has it: nothing of this function is lent." : <>on {those.map((a, i) => <Fragment key={a.id}>{i > 0 && ", "}<Link to="/p/$project/agents/$agent" params={{ project, agent: a.id }}>{visible(a.name)}</Link></Fragment>)}</>}</p>;
                }}
              </Loaded>
            </dd>
          </Fragment>
        ))}
      </dl>
    </Card>
  );
}
