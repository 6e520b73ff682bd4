import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";

import css from "./functions.module.css";
import job from "./job.module.css";
import { api, must, type Schemas } from "../api/client";
import { jobQuery } from "../api/reads";
import { parseInteger } from "../lib/integer";
import { digits, nearPower, plural } from "../lib/format";
import { policyWords } from "../lib/words";
import { parseJSON, printJSON } from "../api/json";
import { AsCalls, Int } from "../ui/bits";
import { Card, Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { curl } from "./common";

type Kind = "range" | "items" | "lines" | "grid" | "objects";
type Check = "bound" | "quorum" | "all" | "none";

/** The form as it stands in the address, so that it can be sent to a colleague. */
interface Form {
  function?: string;
  version?: string;
  kind?: Kind;
  from?: string;
  to?: string;
  size?: string;
  items?: string;
  axes?: string;
  prefix?: string;
  check?: Check;
  error?: string;
  quorum?: string;
  like?: string;
}

interface Built {
  request?: Schemas["JobRequest"];
  wrong: Partial<Record<keyof Form, string>>;
}

/** Makes the request of the form, or says what is wrong where. */
export function build(f: Form): Built {
  const wrong: Built["wrong"] = {};
  const whole = (key: "from" | "to" | "size", text: string | undefined) => {
    const n = parseInteger(text ?? "");
    if (n === undefined) wrong[key] = text ? "Not a whole number: write digits, or 2^64+10^6." : "Needed.";
    return n;
  };
  if (!f.function) wrong.function = "Choose a function.";
  let partition: Schemas["Partition"] = { kind: f.kind ?? "range" };
  switch (f.kind ?? "range") {
    case "range": {
      const from = whole("from", f.from);
      const to = whole("to", f.to);
      const size = whole("size", f.size);
      if (from !== undefined && to !== undefined && to <= from) wrong.to = "Must be above the beginning.";
      if (size !== undefined && size <= 0n) wrong.size = "Must be at least 1.";
      partition = { kind: "range", from: String(from), to: String(to), size: String(size) };
      break;
    }
    case "items": {
      const values: unknown[] = [];
      (f.items ?? "").split("\n").forEach((line, i) => {
        if (!line.trim()) return;
        try {
          values.push(parseJSON(line));
        } catch {
          wrong.items ??= `Line ${i + 1} is not JSON.`;
        }
      });
      if (values.length === 0) wrong.items ??= "One JSON value a line.";
      partition = { kind: "items", values };
      break;
    }
    case "grid":
      try {
        const axes = parseJSON(f.axes ?? "") as Record<string, unknown[]>;
        partition = { kind: "grid", axes: Object.entries(axes).map(([name, values]) => ({ name, values })) };
        if (partition.axes!.some((a) => !Array.isArray(a.values))) throw new Error("no list");
      } catch {
        wrong.axes = 'A JSON object of lists: {"alpha": [0.1, 0.5], "seed": [1, 2]}';
      }
      break;
    case "objects":
      if (!f.prefix) wrong.prefix = "Needed.";
      partition = { kind: "objects", prefix: f.prefix };
      break;
  }
  let policy: Schemas["PolicyRequest"] | undefined;
  if (f.check === "bound") {
    const error = Number(f.error ?? "0.001");
    if (!(error > 0 && error < 1)) wrong.error = "Between 0 and 1.";
    policy = { target_error: error };
  } else if (f.check === "quorum") {
    const quorum = Number(f.quorum ?? "3");
    if (!Number.isInteger(quorum) || quorum < 1) wrong.quorum = "A whole number from 1.";
    policy = { quorum };
  } else if (f.check === "all") policy = { recheck: "all" };
  else if (f.check === "none") policy = { none: true };
  if (Object.keys(wrong).length > 0) return { wrong };
  return { wrong, request: { function: f.function!, ...(f.version ? { version: Number(f.version) } : {}), partition, ...(policy ? { policy } : {}) } };
}

export function RunPage({ bpsw }: { bpsw?: boolean }) {
  const { project } = useParams({ strict: false }) as { project: string };
  const search = useSearch({ strict: false }) as Form;
  const navigate = useNavigate();
  const first: Form = bpsw ? { function: "bpsw", kind: "range", from: "2^64", to: "2^64+10^7", size: "5000", ...search } : search;
  const [form, setForm] = useState<Form>(first);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const functions = useQuery({ queryKey: ["functions", project], queryFn: () => must(api.GET("/v1/projects/{project}/functions", { params: { path: { project }, query: { limit: 500 } } })) });
  const like = useQuery({ ...jobQuery(project, form.like ?? ""), enabled: !!form.like });
  useEffect(() => {
    if (like.data && !form.function) setForm({ ...fromJob(like.data), like: form.like });
  }, [like.data, form]);
  const built = useMemo(() => build(form), [form]);
  const body = built.request ? printJSON(built.request, 0) : undefined;
  const plan = useQuery({
    queryKey: ["plan", project, body],
    enabled: !!built.request,
    queryFn: () => must(api.POST("/v1/projects/{project}/job-plans", { params: { path: { project } }, body: built.request!, bodySerializer: (b) => printJSON(b, 0) })),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const set = (key: keyof Form) => (e: { target: { value: string } }) => {
    const next = { ...form, [key]: e.target.value || undefined };
    setForm(next);
    void navigate({ to: ".", search: next as never, replace: true });
  };
  const field = (key: keyof Form, label: string, hint?: string, props?: object) => (
    <label className={ui.field}>
      <span>{label}</span>
      <input className={ui.input} value={form[key] ?? ""} onChange={set(key)} aria-invalid={built.wrong[key] ? true : undefined} spellCheck={false} autoComplete="off" {...props} />
      <small style={form[key] && built.wrong[key] ? { color: "var(--danger)" } : undefined}>{(form[key] && built.wrong[key]) || hint}</small>
    </label>
  );
  const number = (key: "from" | "to") => {
    const n = parseInteger(form[key] ?? "");
    return n === undefined ? undefined : `${digits(n)}${nearPower(n.toString()) ? ` (${nearPower(n.toString())})` : ""}`;
  };
  const kind = form.kind ?? "range";
  const submit = async () => {
    if (!built.request) return;
    setBusy(true);
    setError(undefined);
    try {
      const made = await must(api.POST("/v1/projects/{project}/jobs", {
        params: { path: { project }, header: { "Idempotency-Key": crypto.randomUUID() } as never }, body: built.request, bodySerializer: (b) => printJSON(b, 0),
      }));
      await navigate({ to: "/p/$project/jobs/$job", params: { project, job: made.id } });
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{bpsw ? "Search for a counterexample to Baillie-PSW" : "Run a function"}</h1>
        {body && <AsCalls cli={cli(form, built.request!)} curl={curl("POST", `/v1/projects/${project}/jobs`, JSON.parse(body))} />}
      </div>
      {bpsw && <p className={ui.muted}>No composite below 2^64 passes: the list of base-2 pseudoprimes is verified up to there. Above it nobody knows. What passes here is counted; whether a number that passes is prime, a further proof decides (the function <code>prove</code>).</p>}
      <form className={css.form} onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        <div className={ui.stack}>
          {!bpsw && (
            <Card title="Function">
              <div className={css.two}>
                <label className={ui.field}>
                  <span>Function</span>
                  <select className={ui.input} value={form.function ?? ""} onChange={set("function")}>
                    <option value="">choose…</option>
                    {functions.data?.items.map((f) => <option key={f.name}>{f.name}</option>)}
                  </select>
                </label>
                {field("version", "Version", "Left out: the newest.", { inputMode: "numeric" })}
              </div>
            </Card>
          )}
          <Card title="Input">
            <div className={ui.stack}>
              {!bpsw && (
                <label className={ui.field}>
                  <span>Kind</span>
                  <select className={ui.input} value={kind} onChange={set("kind")}>
                    <option value="range">A range of integers</option>
                    <option value="items">Items: one JSON value a line</option>
                    <option value="grid">A grid: every combination of lists</option>
                    <option value="objects">Stored files under a prefix</option>
                  </select>
                </label>
              )}
              {kind === "range" && (
                <>
                  {field("from", "From", number("from") ?? "2^64, 2^64+10^9, 0x…, 18_446…: of any size")}
                  {field("to", "To, not included", number("to"))}
                  {field("size", "Numbers in a shard", "So many that a shard takes some seconds.")}
                </>
              )}
              {kind === "items" && (
                <label className={ui.field}>
                  <span>Items</span>
                  <textarea className={ui.input} rows={8} value={form.items ?? ""} onChange={set("items")} spellCheck={false} />
                  <small>{(form.items && built.wrong.items) || "One JSON value a line. Integers keep all their digits."}</small>
                </label>
              )}
              {kind === "grid" && (
                <label className={ui.field}>
                  <span>Lists</span>
                  <textarea className={ui.input} rows={5} value={form.axes ?? ""} onChange={set("axes")} spellCheck={false} />
                  <small>{built.wrong.axes ?? "Every combination is a shard."}</small>
                </label>
              )}
              {kind === "objects" && field("prefix", "Prefix", "texts/: each file that was stored under it is a shard.")}
            </div>
          </Card>
          <Card title="How results are checked">
            <div className={css.two}>
              <label className={ui.field}>
                <span>Policy</span>
                <select className={ui.input} value={form.check ?? ""} onChange={set("check")}>
                  <option value="">as the function says</option>
                  <option value="bound">Secret audits: at most a share may be wrong</option>
                  <option value="quorum">Votes: so many must agree</option>
                  <option value="all">The server executes everything</option>
                  <option value="none">Nothing is checked</option>
                </select>
              </label>
              {form.check === "bound" && field("error", "Wrong results, at most", "0.001: one in a thousand", { placeholder: "0.001" })}
              {form.check === "quorum" && field("quorum", "Equal answers", undefined, { placeholder: "3", inputMode: "numeric" })}
            </div>
          </Card>
        </div>
        <div className={css.plan}>
          <Card title="The plan">
            {!built.request && <p className={ui.muted}>It appears here when the form is complete.</p>}
            {built.request && plan.error && <Trouble error={plan.error} />}
            {built.request && plan.data && <Plan plan={plan.data} />}
            {error !== undefined && <Trouble error={error} />}
            <p style={{ marginTop: "0.8rem" }}>
              <button type="submit" className={`${ui.button} ${ui.primary}`} disabled={!built.request || busy || !!plan.error}>{plan.data && built.request ? `Run ${plural(plan.data.shards, "shard")}` : "Run"}</button>
            </p>
          </Card>
        </div>
      </form>
    </div>
  );
}

function Plan({ plan: p }: { plan: Schemas["JobPlan"] }) {
  const f = p.forecast;
  return (
    <div className={ui.stack}>
      <div>
        <div className={job.kv}><span>Shards</span><b><Int value={p.shards} /></b></div>
        <div className={job.kv}><span>Pages of 1 024</span><span>{digits(Math.ceil(p.shards / 1024))}</span></div>
        <div className={job.kv}><span>Executions a shard</span><b>{f.executions_per_shard.toFixed(2)}</b></div>
        <div className={job.kv}><span>With liars about, at most</span><span>{f.worst_executions_per_shard.toFixed(2)}</span></div>
        <div className={job.kv}><span>Executed by the server</span><span>{digits(Math.round(f.rechecks))}</span></div>
        <div className={job.kv}><span>Wrong results, at most</span><b>{f.error_bound > 0 ? `${+(100 * f.error_bound).toPrecision(3)}%` : "not stated"}</b></div>
        <div className={job.kv}><span>Agents, owners</span><span>{digits(p.agents)}, {digits(f.owners)}</span></div>
      </div>
      <p>{policyWords(p.policy)}</p>
      {f.stuck && <p style={{ color: "var(--danger)" }}>It would wait for ever: {plural(f.owners_needed, "owner")} needed, {digits(f.owners)} there.</p>}
      {f.notes.map((n) => <small key={n} className={ui.muted}>{n}</small>)}
    </div>
  );
}

function fromJob(j: Schemas["Job"]): Form {
  const p = j.partition;
  return {
    function: j.function, version: String(j.version), kind: p.kind as Kind, from: p.from, to: p.to, size: p.size, prefix: p.prefix,
    items: p.values?.map((v) => printJSON(v, 0)).join("\n"),
    axes: p.axes ? printJSON(Object.fromEntries(p.axes.map((a) => [a.name, a.values])), 0) : undefined,
    check: j.policy.none ? "none" : j.policy.recheck === "all" ? "all" : j.policy.quorum ? "quorum" : "bound",
    error: j.policy.target_error !== undefined ? String(j.policy.target_error) : undefined,
    quorum: j.policy.quorum !== undefined ? String(j.policy.quorum) : undefined,
  };
}

function cli(f: Form, r: Schemas["JobRequest"]): string {
  const p = r.partition;
  const parts = ["ostraka job run", r.function];
  if (r.version) parts.push(`--version ${r.version}`);
  if (p.kind === "range") parts.push(`--range ${p.from}:${p.to} --shard-size ${p.size}`);
  else if (p.kind === "items") parts.push("--items FILE");
  else if (p.kind === "grid") parts.push(...(p.axes ?? []).map((a) => `--grid '${a.name}=${printJSON(a.values, 0)}'`));
  else parts.push(`--objects-prefix ${p.prefix}`);
  if (f.check === "bound") parts.push(`--target-error ${r.policy?.target_error}`);
  if (f.check === "quorum") parts.push(`--quorum ${r.policy?.quorum}`);
  if (f.check === "all") parts.push("--recheck all");
  return parts.join(" ");
}

