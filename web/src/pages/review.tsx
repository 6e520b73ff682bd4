import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import css from "./shard.module.css";
import { api, must, type Schemas } from "../api/client";
import { flagsQuery, sessionQuery } from "../api/reads";
import { useUntold } from "../api/stream";
import { digits, plural } from "../lib/format";
import { hold, useHeld } from "../lib/pending";
import { mayBulk, planBulk, startBulk } from "../ui/bulk";
import { AsCalls, Id, Json, visible, When } from "../ui/bits";
import { Card, Loaded, Nothing, Trouble } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";
import { FlagControls } from "./controls";
import { flagTitle } from "./flag-words";
import { useAgentNames } from "./job";

export function ReviewPage() {
  const { project } = useParams({ from: "/signed/p/$project/review" });
  const { state = "open", kind } = useSearch({ strict: false }) as { state?: "open" | "resolved"; kind?: string };
  const flags = useQuery({ ...flagsQuery(project, { state, kind }), refetchInterval: useUntold(4000) });
  const name = useAgentNames(project);
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Review</h1>
        <Link className={ui.button} to="/p/$project/bulk" params={{ project }}>Bulk actions</Link>
        <AsCalls cli={`ostraka flag list --state ${state}`} curl={curl("GET", `/v1/projects/${project}/flags?state=${state}`)} />
      </div>
      <nav className={ui.tabs} aria-label="Flags">
        <Link className={ui.tab} to="." search={{ kind }} aria-current={state === "open" ? "page" : undefined}>Open</Link>
        <Link className={ui.tab} to="." search={{ kind, state: "resolved" }} aria-current={state === "resolved" ? "page" : undefined}>Decided</Link>
      </nav>
      <Card flush>
        <Loaded query={flags} empty={(d) => d.items.length === 0} none={<Nothing title={kind ? "No flag of this kind." : state === "open" ? "The queue is empty." : "Nobody has decided anything yet."}>{kind ? <Link to="." search={{ state }}>Show all kinds</Link> : <p>Wrong answers, findings and shards that wait for a person come here.</p>}</Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th>What</th><th>Kind</th><th>Function</th><th className={ui.num}>Times</th><th>Last</th>{state === "resolved" && <th>Decision</th>}</tr></thead>
              <tbody>
                {d.items.map((f) => (
                  <tr key={f.id}>
                    <td><Link to="/p/$project/review/$flag" params={{ project, flag: f.id }}><strong>{visible(flagTitle(f, name))}</strong></Link></td>
                    <td><Link to="." search={{ state, kind: f.kind }} className={ui.muted}>{f.kind}</Link></td>
                    <td>{f.function} {f.version !== undefined && <span className={ui.muted}>v{f.version}</span>}</td>
                    <td className={ui.num}>{digits(f.times)}</td>
                    <td><When at={f.last_at} bare /></td>
                    {state === "resolved" && <td>{f.resolution} <span className={ui.muted}>{visible(f.reason ?? "")}</span></td>}
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

const decisionKeys: Record<string, string> = { accept: "a", reject: "r", rerun: "n", recheck: "c", dismiss: "d" };

export function FlagPage() {
  const { project, flag: id } = useParams({ from: "/signed/p/$project/review/$flag" });
  const flag = useQuery({
    queryKey: ["flag", project, id],
    queryFn: () => must(api.GET("/v1/projects/{project}/flags/{flag}", { params: { path: { project, flag: id } } })),
  });
  const open = useQuery(flagsQuery(project, { state: "open" }));
  const held = useHeld();
  const name = useAgentNames(project);
  const navigate = useNavigate();
  const order = open.data?.items.map((f) => f.id) ?? [];
  const at = order.indexOf(id);
  const before = order[at - 1];
  const after = at >= 0 ? order[at + 1] : order[0];
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement || e.metaKey || e.ctrlKey || e.altKey) return;
      const to = e.key === "j" ? after : e.key === "k" ? before : undefined;
      if (to) void navigate({ to: "/p/$project/review/$flag", params: { project, flag: to } });
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [after, before, navigate, project]);
  return (
    <Loaded query={flag} height={420}>
      {(f) => (
        <div className={ui.page}>
          <div className={ui.title}>
            <h1>{visible(flagTitle(f, name))}</h1>
            <Pill as={f.state === "open" ? "review" : "accepted"}>{f.state === "open" ? "open" : (f.resolution ?? "decided")}</Pill>
            <span className={`${ui.grow} ${ui.muted}`}>{f.kind}{f.times > 1 ? `, ${digits(f.times)} times` : ""} · <When at={f.last_at} bare /></span>
            {before && <Link className={ui.button} to="/p/$project/review/$flag" params={{ project, flag: before }}>← <kbd>k</kbd></Link>}
            {after && <Link className={ui.button} to="/p/$project/review/$flag" params={{ project, flag: after }}>→ <kbd>j</kbd></Link>}
            <AsCalls cli={`ostraka flag show ${id}\nostraka flag resolve ${id} --${f.decisions[0]?.decision ?? "dismiss"}${f.decisions[0]?.digest ? ` ${f.decisions[0].digest}` : ""} --reason "…"\nostraka bulk start flags dismiss --like ${id} --reason "…"`} curl={curl("POST", `/v1/projects/${project}/flags/${id}/resolve`, { decision: f.decisions[0]?.decision ?? "dismiss", reason: "…" })} />
          </div>
          <Why flag={f} name={name} project={project} />
          <FlagControls flag={f} name={name} />
          {f.item && <Groups item={f.item} name={name} />}
          {held.pending?.flag === f.id ? null : f.state === "open" ? <Decide key={f.id} project={project} flag={f} next={after} name={name} /> : (
            <Card title="Decided"><p><strong>{f.resolution}</strong>: {visible(f.reason ?? "")}</p><p className={ui.muted}>{f.resolved_by} {f.resolved_at && <When at={f.resolved_at} />}</p></Card>
          )}
        </div>
      )}
    </Loaded>
  );
}

function Why({ flag: f, name, project }: { flag: Schemas["FlagDetail"]; name: (id: string) => string; project: string }) {
  const detail = (f.detail ?? {}) as Record<string, unknown>;
  return (
    <Card title="Why it is here">
      <div className={ui.stack}>
        {typeof detail.reason === "string" && <p>{visible(detail.reason)}</p>}
        <div className={ui.row}>
          {f.job && <Link to="/p/$project/jobs/$job" params={{ project, job: f.job }}>The job</Link>}
          {f.job && f.shard !== undefined && <Link to="/p/$project/jobs/$job/shards/$shard" params={{ project, job: f.job, shard: String(f.shard) }}>Shard {digits(f.shard)}</Link>}
          {f.agent && <Link to="/p/$project/agents/$agent" params={{ project, agent: f.agent }}>{name(f.agent)}</Link>}
          {f.rule && <span className={ui.muted}>raised by {f.rule}</span>}
        </div>
        {f.samples.length > 0 && f.job && f.kind !== "controls" && (
          <p className={ui.muted}>
            The same on{" "}
            {f.samples.filter((s) => s.shard !== undefined).slice(0, 12).map((s) => (
              <span key={s.shard}><Link to="/p/$project/jobs/$job/shards/$shard" params={{ project, job: f.job!, shard: String(s.shard) }}>shard {digits(s.shard!)}</Link> </span>
            ))}
          </p>
        )}
        <details><summary className={ui.muted}>All that is known</summary><Json value={f.detail} label="detail" /></details>
      </div>
    </Card>
  );
}

function Groups({ item, name }: { item: Schemas["FlagItem"]; name: (id: string) => string }) {
  return (
    <div className={css.groups}>
      {item.groups.map((g, i) => (
        <section key={g.digest ?? i} className={`${css.group} ${g.reference || g.accepted ? css.accepted : g.differences?.length ? css.wrong : ""}`} aria-label={`Answer ${i + 1}`}>
          <div className={css.head}>
            <h2>{g.server ? "The server's answer" : g.reference ? "Reference" : `Answer ${i + 1}`}</h2>
            <span className={ui.muted}>{plural(g.agents.length, "execution")}{g.accepted ? ", accepted" : ""}{g.status !== "ok" ? `, ${g.status}` : ""}</span>
          </div>
          {g.differences && g.differences.length > 0 && (
            <div className={css.diff}>
              {g.differences.map((d) => (
                <div key={d.path}><span>{visible(d.path)}</span><span><b>{visible(d.here ?? "nothing")}</b> <span className={ui.muted}>instead of</span> {visible(d.reference ?? "nothing")}</span></div>
              ))}
              {g.more_differences && <small className={ui.muted}>and more</small>}
            </div>
          )}
          {g.not_compared && <p className={ui.muted}>{visible(g.not_compared)}</p>}
          {g.exception && <pre>{visible(g.exception)}</pre>}
          {g.output !== undefined && <Json value={g.output} label={`output of answer ${i + 1}`} />}
          <p className={ui.muted}>from {g.agents.map((a) => name(a)).join(", ")}{g.digest && <> · <Id value={g.digest} /></>}</p>
        </section>
      ))}
    </div>
  );
}

const remembered = "ostraka.reasons";

function reasons(): string[] {
  try {
    return JSON.parse(localStorage.getItem(remembered) ?? "[]") as string[];
  } catch {
    return [];
  }
}

function Decide({ project, flag: f, next, name }: { name: (id: string) => string; project: string; flag: Schemas["FlagDetail"]; next?: string }) {
  const { role } = useRights();
  const { data: who } = useQuery(sessionQuery);
  const [alike, setAlike] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [reason, setReason] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement || e.metaKey || e.ctrlKey || e.altKey) return;
      const i = f.decisions.findIndex((d) => decisionKeys[d.decision] === e.key);
      if (i < 0) return;
      e.preventDefault();
      setChosen(i);
      field.current?.focus();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [f.decisions]);
  const decision = f.decisions[chosen];
  const start = { subject: "flags" as const, action: decision?.decision ?? "dismiss", filter: { like: f.id } };
  const may = mayBulk(role, start.subject, start.action);
  const one = !decision || decision.decision === "accept"; // the answer to accept is another one for each flag
  const plan = useQuery({ queryKey: ["bulk-plan", project, start], queryFn: () => planBulk(project, start), enabled: may && !one, retry: false });
  const like = one ? 0 : (plan.data?.total ?? 0);
  if (!decision) return null;
  if (!may) return <Card title="Decide"><p className={ui.muted}>Owners and reviewers of the project decide about flags.</p></Card>;
  const decide = async () => {
    setBusy(true);
    setError(undefined);
    try {
      if (alike && like > 1) {
        const made = await startBulk(project, { ...start, expected: like }, reason);
        await client.invalidateQueries({ queryKey: ["flags", project] });
        await navigate({ to: "/p/$project/bulk/$bulk", params: { project, bulk: made.id } });
        return;
      }
      await hold({
        project, flag: f.id, who,
        words: `${flagTitle(f, name)}: ${decision.decision}.`,
        send: async (leaving) => {
          await must(api.POST("/v1/projects/{project}/flags/{flag}/resolve", {
            params: { path: { project, flag: f.id }, header: { "If-Match": `"${f.revision}"` } as never },
            body: { decision: decision.decision, digest: decision.digest, reason }, keepalive: leaving,
          }));
          await client.invalidateQueries({ queryKey: ["flags", project] });
          await client.invalidateQueries({ queryKey: ["flag", project, f.id] });
        },
      });
      localStorage.setItem(remembered, JSON.stringify([reason, ...reasons().filter((r) => r !== reason)].slice(0, 5)));
      if (next) await navigate({ to: "/p/$project/review/$flag", params: { project, flag: next } });
    } catch (e) {
      setError(e);
      if (alike && like > 1) await plan.refetch(); // the number may have changed: the next try is about what is shown then
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title="Decide">
      <form className={ui.stack} onSubmit={(e) => { e.preventDefault(); void decide(); }}>
        <fieldset className={ui.stack} style={{ border: 0, padding: 0, margin: 0 }}>
          <legend className="hidden-visually">Decision</legend>
          {f.decisions.map((d, i) => (
            <label key={d.decision + (d.digest ?? "")} className={ui.row} style={{ flexWrap: "nowrap", alignItems: "baseline" }}>
              <input type="radio" name="decision" checked={i === chosen} onChange={() => setChosen(i)} />
              <span><strong>{d.decision}{d.digest ? ` ${d.digest.slice(0, 8)}…` : ""}</strong> <kbd className={ui.muted}>{decisionKeys[d.decision]}</kbd><br /><span className={ui.muted}>{visible(d.effect)}</span></span>
            </label>
          ))}
        </fieldset>
        <label className={ui.field}>
          <span>Reason</span>
          <input ref={field} className={ui.input} value={reason} onChange={(e) => setReason(e.target.value)} required maxLength={500} list="reasons" placeholder="Why; it is kept with the decision" />
          <datalist id="reasons">{reasons().map((r) => <option key={r} value={r} />)}</datalist>
        </label>
        {like > 1 && (
          <label className={ui.row}>
            <input type="checkbox" checked={alike} onChange={(e) => setAlike(e.target.checked)} />
            <span>Apply to {digits(like)} like this <span className={ui.muted}>({visible(f.kind)}{f.rule ? `, ${visible(f.rule)}` : ""}{f.function ? `, ${visible(f.function)}` : ""})</span></span>
          </label>
        )}
        {error !== undefined && <Trouble error={error} />}
        <div><button type="submit" className={`${ui.button} ${ui.primary}`} disabled={busy}>{alike && like > 1 ? `${decision.decision[0]!.toUpperCase() + decision.decision.slice(1)} ${digits(like)} flags` : <>{decision.decision[0]!.toUpperCase() + decision.decision.slice(1)}{next ? ", then the next" : ""}</>}</button></div>
      </form>
    </Card>
  );
}
