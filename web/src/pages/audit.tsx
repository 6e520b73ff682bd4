import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";

import { api, must, type Schemas } from "../api/client";
import { parseJSON } from "../api/json";
import { digits } from "../lib/format";
import { verifyRecord, type Proved } from "../lib/proof";
import { AsCalls, Id, Json, Text, visible, When } from "../ui/bits";
import { Card, Loaded, More, Nothing, Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { curl } from "./common";
import { useGo } from "./job";

/** What the list of records can be narrowed to; the address has the same words. */
const filters = ["actor", "action", "subject", "job", "agent", "decision"] as const;
type Filter = Partial<Record<(typeof filters)[number], string>>;

export function AuditPage() {
  const { project } = useParams({ strict: false });
  const search = useSearch({ strict: false }) as Filter;
  const filter = Object.fromEntries(filters.flatMap((f) => (search[f] ? [[f, search[f]]] : []))) as Filter;
  const go = useGo();
  const records = useInfiniteQuery({
    queryKey: ["audit", project, filter],
    queryFn: ({ pageParam }) => {
      const query = { ...filter, limit: 100, order: "newest", cursor: pageParam || undefined } as never;
      return project ? must(api.GET("/v1/projects/{project}/audit", { params: { path: { project }, query } })) : must(api.GET("/v1/audit", { params: { query } }));
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    // What says that it is sealed within seconds must come to be sealed; older records do not change, and do not move either.
    refetchInterval: (q) => (q.state.data?.pages.some((p) => p.items.some((r) => r.index === undefined)) ? 2000 : false),
  });
  const items = records.data?.pages.flatMap((p) => p.items) ?? [];
  const given = Object.entries(filter);
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{project ? "Audit log" : "Audit log of the installation"}</h1>
        <AsCalls
          cli={[project ? "ostraka audit list" : "ostraka audit list --operator", ...given.map(([k, v]) => `--${k} '${v}'`)].join(" ")}
          curl={curl("GET", `${project ? `/v1/projects/${project}` : "/v1"}/audit${given.length ? `?${new URLSearchParams(given).toString()}` : ""}`)}
        />
      </div>
      <Head project={project} />
      <Card
        title="Records" flush
        aside={(
          <form
            className={ui.row} key={JSON.stringify(filter)}
            onSubmit={(e) => {
              e.preventDefault();
              const form = new FormData(e.currentTarget);
              go(Object.fromEntries(filters.map((f) => [f, String(form.get(f) ?? "").trim() || undefined])));
            }}
          >
            {filters.map((f) => <label key={f}><span className="hidden-visually">{f}</span><input className={ui.input} style={{ width: "8.5rem" }} name={f} defaultValue={filter[f]} placeholder={f} maxLength={200} /></label>)}
            <button type="submit" className={ui.button}>Filter</button>
          </form>
        )}
      >
        {records.error && <Trouble error={records.error} retry={() => void records.refetch()} />}
        {!records.data && !records.error && <div className={ui.skeleton} style={{ height: 240 }} role="status" aria-label="Loading" />}
        {records.data && items.length === 0 && (
          <Nothing title={given.length ? "No record is like that." : "Nothing has been recorded yet."}>
            {given.length > 0 && <button type="button" className={ui.button} onClick={() => go(Object.fromEntries(filters.map((f) => [f, undefined])))}>Show all</button>}
          </Nothing>
        )}
        {items.length > 0 && (
          <table className={ui.table}>
            <thead><tr><th className={ui.num}>#</th><th>When</th><th>Who</th><th>What</th><th>To what</th></tr></thead>
            <tbody>{items.map((r) => <Record key={r.seq} project={project} record={r} />)}</tbody>
          </table>
        )}
        <More query={records} shown={items.length} />
      </Card>
    </div>
  );
}

/** The head of the log, which somebody should keep elsewhere. */
function Head({ project }: { project?: string }) {
  const head = useQuery({ queryKey: ["audit-head", project], queryFn: () => (project ? must(api.GET("/v1/projects/{project}/audit/checkpoint", { params: { path: { project } } })) : must(api.GET("/v1/audit/checkpoint"))) });
  return (
    <>
      <Card title="Head of the log">
        <Loaded query={head} height={80}>
          {(h) => (
            <div className={ui.stack}>
              <p className={ui.muted}>{digits(h.size)} records are sealed; signed <When at={h.signed_at} />. Keep this text where the server's operator has no access: whoever changes the log after that is found out by <code>ostraka audit verify --checkpoint FILE</code>.</p>
              <Text text={h.checkpoint} label="checkpoint" />
            </div>
          )}
        </Loaded>
      </Card>
      {head.data?.restarts && head.data.restarts.length > 0 && <Restarts restarts={head.data.restarts} />}
    </>
  );
}

/** Where the log began anew after a backup was restored: everybody who reads it sees that. */
function Restarts({ restarts }: { restarts: Schemas["LogRestart"][] }) {
  return (
    <Card title="The log began anew" flush>
      <table className={ui.table}>
        <thead><tr><th scope="col" className={ui.num}>#</th><th scope="col">When</th><th scope="col">Who</th><th scope="col" className={ui.num}>Restored</th><th scope="col" className={ui.num}>Known to be lost</th><th scope="col">Why</th></tr></thead>
        <tbody>
          {restarts.map((r) => (
            <tr key={r.index}>
              <td className={ui.num}>{digits(r.index)}</td>
              <td><When at={r.at} /></td>
              <td className="mono">{visible(r.actor)}</td>
              <td className={ui.num}>{digits(r.restored)}</td>
              <td className={ui.num}>{r.lost === undefined ? "–" : digits(Math.max(0, r.lost - r.restored))}</td>
              <td>{visible(r.reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

const jobID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function Record({ project, record: r }: { project?: string; record: Schemas["AuditRecord"] }) {
  return (
    <tr>
      <td className={ui.num}>{r.index === undefined ? "–" : digits(r.index)}</td>
      <td><When at={r.at} bare /></td>
      <td className="mono">{visible(r.actor)}</td>
      <td><code>{visible(r.action)}</code></td>
      <td>
        {project && r.action.startsWith("job.") && jobID.test(r.subject) ? <Link to="/p/$project/jobs/$job" params={{ project, job: r.subject }}>{visible(r.subject)}</Link> : visible(r.subject)}
        {r.pruned_at ? <p className={ui.muted}>its content was taken out; its hash stays</p> : (
          <details>
            <summary className={ui.muted}>detail and proof</summary>
            <div className={ui.stack}>
              <Json value={r.detail} label={`detail of record ${r.seq}`} />
              {r.index === undefined ? <p className={ui.muted}>It is sealed within some seconds.</p> : <Proof project={project} index={r.index} />}
            </div>
          </details>
        )}
      </td>
    </tr>
  );
}

/** Checks the record's proof here, and says what that does not prove. */
function Proof({ project, index }: { project?: string; index: number }) {
  const [held, setHeld] = useState<Proved>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const p = project
        ? await must(api.GET("/v1/projects/{project}/audit/records/{index}", { params: { path: { project, index } } }))
        : await must(api.GET("/v1/audit/records/{index}", { params: { path: { index } } }));
      const proved = await verifyRecord(p.canonical, p.proof, p.key);
      if (proved.index !== BigInt(index) || (parseJSON(p.canonical) as { action?: string }).action !== p.action) throw new Error("the proof is about another record");
      setHeld(proved);
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div><button type="button" className={`${ui.button} ${ui.small}`} disabled={busy} onClick={() => void check()}>Verify in this browser</button></div>
      {error !== undefined && <Trouble error={error} />}
      {held && (
        <div role="status">
          <p><strong>The proof holds:</strong> it is record {digits(held.index)} of the {digits(held.size)} whose root <Id value={held.root} /> was signed.</p>
          <p className={ui.muted}>Not proved: that what it says was true when it was written, that nothing was left out, and that nobody was shown another log. The key came from this server too: keep one that you had from elsewhere.</p>
        </div>
      )}
    </>
  );
}
