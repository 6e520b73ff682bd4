import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";

import css from "./job.module.css";
import type { Schemas } from "../api/client";
import { addOverride, endOverride, guardianStatus, setRule, testRule, type Place } from "../api/guardian";
import { parseJSON } from "../api/json";
import { digits, plural } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { Ask, AsCalls, visible, When } from "../ui/bits";
import { Card, Loaded, Nothing, Trouble } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";

type Rule = Schemas["GuardianRule"];

/** What decides before anything happens: in a project, or, for operators, in the whole installation. */
export function GuardianPage() {
  const { project } = useParams({ strict: false }) as { project?: Place };
  const status = useQuery({ queryKey: ["guardian", project], queryFn: () => guardianStatus(project), refetchInterval: useEvery(5000) });
  const { owner, operator } = useRights();
  const may = project ? owner : operator;
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Guardian</h1>
        <AsCalls cli={`ostraka guardian status${project ? "" : " --operator"}`} curl={curl("GET", project ? `/v1/projects/${project}/guardian` : "/v1/guardian")} />
      </div>
      <p className={ui.muted}>Before anything is changed and before a function runs, rules decide: deny, ask a person, allow, or allow under conditions. The strictest wins. Every decision is a record of the audit log.</p>
      <Loaded query={status} height={320}>
        {(s) => (
          <>
            <Numbers status={s} project={project} />
            <Rules place={project} rules={s.rules} may={may} />
            {may && <Draft place={project} rules={s.rules} />}
            <Overrides place={project} status={s} may={may} />
            <Decisions status={s} project={project} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Numbers({ status: s, project }: { status: Schemas["GuardianStatus"]; project: Place }) {
  const of = (decision: string) => s.decisions.filter((d) => d.decision === decision).reduce((n, d) => n + d.count, 0);
  return (
    <div className={css.numbers}>
      <div className={css.number}><span>Allowed</span><b>{digits(of("allow"))}</b><small>in 24 hours</small></div>
      <div className={css.number}><span>Asked</span><b>{digits(of("ask"))}</b><small>in 24 hours</small></div>
      <div className={css.number}><span>Denied</span><b style={of("deny") ? { color: "var(--danger)" } : undefined}>{digits(of("deny"))}</b><small>in 24 hours</small></div>
      <div className={css.number}>
        <span>Wait for a yes</span><b>{digits(s.approvals_waiting)}</b>
        <small>{project ? <Link to="/p/$project/approvals" params={{ project }}>approvals</Link> : <Link to="/approvals">approvals</Link>}{s.four_eyes && ", by two people"}</small>
      </div>
    </div>
  );
}

/** What a rule is, without what the server keeps of it. */
const said = (r: Rule): Schemas["SetGuardianRule"] => ({
  enabled: r.enabled, on: r.on, when: r.when, risk: r.risk as Schemas["SetGuardianRule"]["risk"], then: r.then as Schemas["SetGuardianRule"]["then"], conditions: r.conditions, reason: r.reason,
});

const changeable = (place: Place, r: Rule) => r.layer === (place ? "project" : "operator");

function Rules({ place, rules, may }: { place: Place; rules: Rule[]; may: boolean }) {
  return (
    <Card title="Rules" flush>
      <table className={ui.table}>
        <thead><tr><th>Rule</th><th>Layer</th><th>About</th><th>When</th><th>Then</th><th>Why</th><th>Actions</th></tr></thead>
        <tbody>
          {rules.map((r) => (
            <tr key={r.layer + r.name}>
              <td><strong>{visible(r.name)}</strong> <span className={ui.muted}>v{r.version}</span> {!r.enabled && <Pill as="cancelled">off</Pill>}</td>
              <td>{r.layer}</td>
              <td><About on={r.on ?? []} /></td>
              <td><code>{visible(r.when ?? "always")}</code></td>
              <td>{r.then === "deny" ? <Pill as="failed">deny</Pill> : r.then === "ask" ? <Pill as="review">ask</Pill> : <Pill as="accepted">allow</Pill>}{r.conditions && <div className={ui.muted}>{visible(conditions(r.conditions))}</div>}</td>
              <td>{visible(r.reason)}</td>
              <td>{may && changeable(place, r) && <Switch place={place} rule={r} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** Turns a rule on or off, once it was shown what would have been decided otherwise: the server wants that confirmed. */
function Switch({ place, rule: r }: { place: Place; rule: Rule }) {
  const client = useQueryClient();
  const [tried, setTried] = useState<{ trial: Schemas["RuleTest"]; version: number }>();
  const [error, setError] = useState<unknown>();
  const next = { ...said(r), enabled: !r.enabled };
  const attempt = () => {
    setTried(undefined);
    setError(undefined);
    testRule(place, { ...next, name: r.name }).then((trial) => setTried({ trial, version: r.version }), setError);
  };
  const known = tried?.version === r.version ? tried : undefined; // of the rule as it is shown, and of no earlier version
  return (
    <Ask
      label={r.enabled ? "Disable…" : "Enable…"} title={`${r.enabled ? "Disable" : "Enable"} ${r.name}?`} confirm={r.enabled ? "Disable it" : "Enable it"}
      onOpen={attempt} waits={!known}
      onConfirm={async () => {
        await setRule(place, r.name, { ...next, replaces: r.version, confirm: true });
        await client.invalidateQueries({ queryKey: ["guardian", place] });
      }}
    >
      <p>{r.enabled ? "It decides nothing more. Approvals that it asked for stay what they are." : "It decides from now on."}</p>
      {error !== undefined && <Trouble error={error} retry={attempt} />}
      {known ? <Trial trial={known.trial} /> : error === undefined && (tried
        ? <p role="status">The rule was changed meanwhile. <button type="button" className={ui.button} onClick={attempt}>Try it again</button></p>
        : <p role="status">Trying it against the newest 1,000 decisions…</p>)}
    </Ask>
  );
}

/** What a rule is about; those that are about much take one line all the same. */
function About({ on }: { on: string[] }) {
  if (on.length === 0) return <>all operations</>;
  const names = on.map((o) => <div key={o}><code>{visible(o)}</code></div>);
  return on.length < 3 ? <>{names}</> : <details><summary className={ui.muted}>{plural(on.length, "operation")}</summary>{names}</details>;
}

const conditions = (c: Schemas["Conditions"]) => Object.entries(c).filter(([, v]) => v !== undefined && v !== false).map(([k, v]) => `${k.replaceAll("_", " ")} ${v === true ? "" : String(v)}`.trim()).join(", ");

const example = `{
  "name": "large-jobs",
  "on": ["job.submit"],
  "when": "job.shards > 1000000 && !code.signed",
  "then": "ask",
  "reason": "large jobs of unsigned code want a look"
}`;

/** A rule that is being written: tried against what was decided lately before it holds. */
function Draft({ place, rules }: { place: Place; rules: Rule[] }) {
  const [text, setText] = useState(example);
  const [trial, setTrial] = useState<Schemas["RuleTest"]>();
  const [tried, setTried] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();
  const run = async (what: (rule: Schemas["TestGuardianRule"]) => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      const read = parseJSON(text) as Partial<Schemas["TestGuardianRule"]>;
      if (!read || typeof read !== "object" || typeof read.name !== "string") throw new Error("a rule is a JSON object with a name");
      await what({ ...read, enabled: read.enabled ?? true } as Schemas["TestGuardianRule"]);
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  const publish = (rule: Schemas["TestGuardianRule"]) => {
    const { name, ...body } = rule;
    const before = rules.find((r) => r.name === name && changeable(place, r));
    return setRule(place, name, { ...body, replaces: before?.version ?? 0, confirm: true }).then(() => client.invalidateQueries({ queryKey: ["guardian", place] }));
  };
  return (
    <Card title="Write a rule">
      <form
        className={ui.stack}
        onSubmit={(e) => {
          e.preventDefault();
          void run(async (rule) => {
            setTrial(await testRule(place, rule));
            setTried(text);
          });
        }}
      >
        <label className={ui.field}>
          <span>Rule</span>
          <textarea className={`${ui.input} mono`} rows={8} value={text} onChange={(e) => setText(e.target.value)} spellCheck={false} maxLength={16384} />
          <small>JSON. <code>then</code> is allow, ask or deny; allow may have <code>conditions</code>. A name that there is already makes a new version of that rule.</small>
        </label>
        {error !== undefined && <Trouble error={error} />}
        {trial && tried === text && <Trial trial={trial} />}
        <div className={ui.row}>
          <button type="submit" className={`${ui.button} ${ui.primary}`} disabled={busy}>Try it</button>
          <button type="button" className={ui.button} disabled={busy || tried !== text} onClick={() => void run(async (rule) => { await publish(rule); setTried(""); })}>Publish it</button>
          {tried !== text && <span className={ui.muted}>Try it first: against the newest 1,000 decisions.</span>}
        </div>
      </form>
    </Card>
  );
}

function Trial({ trial: t }: { trial: Schemas["RuleTest"] }) {
  if (t.differences.length === 0) return <p role="status">Of {plural(t.decisions, "decision")} none would have been another.</p>;
  return (
    <div role="status">
      <p>Of {plural(t.decisions, "decision")} {digits(t.differences.length)} would have been another:</p>
      <table className={ui.table}>
        <thead><tr><th>When</th><th>Who</th><th>What</th><th>Was</th><th>Would be</th></tr></thead>
        <tbody>{t.differences.slice(0, 20).map((d) => (
          <tr key={d.seq}><td><When at={d.at} bare /></td><td className="mono">{visible(d.actor)}</td><td><code>{visible(d.operation)}</code> {visible(d.subject)}</td><td>{d.before}</td><td><strong>{d.after}</strong></td></tr>
        ))}</tbody>
      </table>
      {t.differences.length > 20 && <p className={ui.muted}>Showing 20 of {digits(t.differences.length)}; <code>ostraka guardian rule test</code> prints all.</p>}
    </div>
  );
}

function Overrides({ place, status: s, may }: { place: Place; status: Schemas["GuardianStatus"]; may: boolean }) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const again = () => client.invalidateQueries({ queryKey: ["guardian", place] });
  return (
    <Card title="Exceptions in force" flush>
      {s.overrides.length === 0 ? <Nothing title="None: every rule holds." /> : (
        <table className={ui.table}>
          <thead><tr><th>Rule</th><th>About</th><th>Why</th><th>By</th><th>Ends</th><th>Actions</th></tr></thead>
          <tbody>{s.overrides.map((o) => (
            <tr key={o.id}>
              <td><strong>{visible(o.rule)}</strong></td><td>{visible([o.operations?.join(", "), o.subject].filter(Boolean).join(" · ") || "all")}</td><td>{visible(o.reason)}</td><td className="mono">{visible(o.created_by)}</td><td><When at={o.until} /></td>
              <td>{may && <Ask label="End…" title={`End the exception from ${o.rule}?`} confirm="End it" onConfirm={async () => { await endOverride(place, o.id); await again(); }}>The rule holds again at once.</Ask>}</td>
            </tr>
          ))}</tbody>
        </table>
      )}
      {may && (
        <form
          className={ui.row} style={{ padding: "0.6rem 1rem 1rem" }}
          onSubmit={(e) => {
            e.preventDefault();
            const form = e.currentTarget;
            const f = new FormData(form);
            const text = (k: string) => String(f.get(k) ?? "").trim();
            setError(undefined);
            addOverride(place, { rule: text("rule"), reason: text("reason"), seconds: Math.round(Number(text("hours")) * 3600), ...(text("subject") ? { subject: text("subject") } : {}) })
              .then(() => { form.reset(); return again(); }, setError);
          }}
        >
          <label><span className="hidden-visually">Rule</span><input className={ui.input} name="rule" placeholder="rule" required maxLength={100} /></label>
          <label><span className="hidden-visually">Subject</span><input className={ui.input} name="subject" placeholder="subject: all" maxLength={200} /></label>
          <label><span className="hidden-visually">Reason</span><input className={ui.input} name="reason" placeholder="reason" required maxLength={500} /></label>
          <label className={ui.row}>for <input className={ui.input} style={{ width: "5rem" }} name="hours" type="number" min="0.1" max="744" step="0.1" defaultValue="2" required /> hours</label>
          <button type="submit" className={ui.button}>Make an exception</button>
        </form>
      )}
      {error !== undefined && <Trouble error={error} />}
    </Card>
  );
}

function Decisions({ status: s, project }: { status: Schemas["GuardianStatus"]; project: Place }) {
  return (
    <Card title="Decided in the last 24 hours" flush>
      {s.decisions.length === 0 ? <Nothing title="Nothing yet." /> : (
        <table className={ui.table}>
          <thead><tr><th>Operation</th><th>Decision</th><th className={ui.num}>Times</th><th>Last</th><th>Actions</th></tr></thead>
          <tbody>{s.decisions.map((d) => (
            <tr key={d.operation + d.decision}>
              <td><code>{visible(d.operation)}</code></td><td>{d.decision}</td><td className={ui.num}>{digits(d.count)}</td><td><When at={d.last_at} bare /></td>
              <td>{project && <Link to="/p/$project/audit" params={{ project }} search={{ action: "guardian.decide", decision: d.decision }}>records</Link>}</td>
            </tr>
          ))}</tbody>
        </table>
      )}
    </Card>
  );
}
