import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";

import { api, must, type Schemas } from "../api/client";
import { digits } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { Ask, AsCalls, Id, Json, Text, visible, When } from "../ui/bits";
import { Card, Loaded, More, Nothing, Trouble } from "../ui/panel";
import { Pill, type Shown } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";

const states: Record<Schemas["Delivery"]["state"], Shown> = { waiting: "waiting", sending: "running", delivered: "accepted", failed: "failed", dropped: "cancelled" };

function WebhookPill({ webhook: w }: { webhook: Schemas["Webhook"] }) {
  if (w.paused) return <Pill as="cancelled">paused</Pill>;
  return w.failing_since ? <Pill as="failed">failing</Pill> : <Pill as="accepted">on</Pill>;
}

export function WebhooksPage() {
  const { project } = useParams({ from: "/signed/p/$project/webhooks" });
  const webhooks = useQuery({
    queryKey: ["webhooks", project], refetchInterval: useEvery(5000),
    queryFn: () => must(api.GET("/v1/projects/{project}/webhooks", { params: { path: { project }, query: { limit: 100 } } })),
  });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Webhooks</h1>
        <AsCalls cli="ostraka webhook list" curl={curl("GET", `/v1/projects/${project}/webhooks`)} />
      </div>
      <Card flush>
        <Loaded query={webhooks} empty={(d) => d.items.length === 0} none={<Nothing title="No webhook yet."><p>A webhook has a URL of yours called when a job ends or a flag is raised.</p><code>ostraka webhook create NAME --url https://… --event job.finished,job.failed --secret-file FILE</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th scope="col">Webhook</th><th scope="col">Posts to</th><th scope="col">Events</th><th scope="col">State</th><th scope="col" className={ui.num}>Waiting</th></tr></thead>
              <tbody>
                {d.items.map((w) => (
                  <tr key={w.id}>
                    <td><Link to="/p/$project/webhooks/$webhook" params={{ project, webhook: w.id }}><strong>{visible(w.name)}</strong></Link></td>
                    <td className="mono">{visible(w.url)}</td>
                    <td>{w.kinds.join(", ")}</td>
                    <td><WebhookPill webhook={w} /> <span className={ui.muted}>{visible(w.pause_reason || w.last_error || "")}</span></td>
                    <td className={ui.num}>{digits(w.waiting ?? 0)}</td>
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

export function WebhookPage() {
  const { project, webhook } = useParams({ from: "/signed/p/$project/webhooks/$webhook" });
  const detail = useQuery({
    queryKey: ["webhook", project, webhook], refetchInterval: useEvery(3000),
    queryFn: () => must(api.GET("/v1/projects/{project}/webhooks/{webhook}", { params: { path: { project, webhook } } })),
  });
  const [secret, setSecret] = useState<string>();
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{visible(detail.data?.name ?? "Webhook")}</h1>
        <AsCalls cli={`ostraka webhook show ${detail.data?.name ?? webhook}`} curl={curl("GET", `/v1/projects/${project}/webhooks/${webhook}`)} />
      </div>
      <Loaded query={detail}>
        {(w) => (
          <Card title="What it does" aside={<Decide project={project} webhook={w} onSecret={setSecret} />}>
            <dl className={ui.facts}>
              <dt>State</dt><dd><WebhookPill webhook={w} /> {visible(w.pause_reason ?? "")}</dd>
              <dt>Posts to</dt><dd className="mono">{visible(w.url)}</dd>
              <dt>Events</dt><dd>{w.kinds.join(", ")}</dd>
              <dt>Waiting</dt><dd>{digits(w.waiting ?? 0)}{w.dropped ? `, and ${digits(w.dropped)} gave way to newer ones` : ""}</dd>
              <dt>Worked last</dt><dd>{w.delivered_at ? <When at={w.delivered_at} /> : "never"}</dd>
              {w.failing_since && <><dt>Has failed since</dt><dd><When at={w.failing_since} />: {visible(w.last_error ?? "")}</dd></>}
              <dt>Made</dt><dd><When at={w.created_at} />, by {visible(w.created_by)}</dd>
              <dt>ID</dt><dd><Id value={w.id} whole /></dd>
            </dl>
            {secret && <div><p><strong>The new secret, shown this once.</strong> For a day the old one signs too.</p><Text text={secret} label="new secret" /></div>}
          </Card>
        )}
      </Loaded>
      <Deliveries project={project} webhook={webhook} />
    </div>
  );
}

/** What was sent, the newest first, and what became of it. */
function Deliveries({ project, webhook }: { project: string; webhook: string }) {
  const list = useInfiniteQuery({
    queryKey: ["deliveries", project, webhook],
    queryFn: ({ pageParam }) => must(api.GET("/v1/projects/{project}/webhooks/{webhook}/deliveries", { params: { path: { project, webhook }, query: { limit: 50, cursor: pageParam || undefined } } })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: useEvery(3000),
  });
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <Card title="What was sent" flush>
      {list.error && <Trouble error={list.error} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <div className={ui.skeleton} style={{ height: 120 }} role="status" aria-label="Loading" />}
      {list.data && items.length === 0 && <Nothing title="Nothing yet." />}
      {items.length > 0 && (
        <table className={ui.table}>
          <thead><tr><th scope="col">When</th><th scope="col">Event</th><th scope="col">Job</th><th scope="col">State</th><th scope="col" className={ui.num}>Tries</th><th scope="col">Last answer</th><th scope="col">Sent</th></tr></thead>
          <tbody>{items.map((d) => <Row key={d.id} project={project} delivery={d} />)}</tbody>
        </table>
      )}
      <More query={list} shown={items.length} />
    </Card>
  );
}

function Row({ project, delivery: d }: { project: string; delivery: Schemas["Delivery"] }) {
  const { owner } = useRights();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const params = { path: { project, webhook: d.webhook, delivery: d.id } };
  const whole = useQuery({ queryKey: ["delivery", project, d.id], enabled: open, queryFn: () => must(api.GET("/v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}", { params })) });
  const replay = async () => {
    await must(api.POST("/v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}/replay", { params }));
    await client.invalidateQueries({ queryKey: ["deliveries", project] });
  };
  return (
    <tr>
      <td><When at={d.at} bare /></td>
      <td>{visible(d.kind)}</td>
      <td>{d.job ? <Link to="/p/$project/jobs/$job" params={{ project, job: d.job }}>{d.job}</Link> : "–"}</td>
      <td><Pill as={states[d.state]}>{d.state}</Pill>{d.state === "waiting" && <div className={ui.muted}>again <When at={d.next_at} bare /></div>}</td>
      <td className={ui.num}>{digits(d.tries)}</td>
      <td>{d.status ?? "–"} {visible(d.error ?? "")}</td>
      <td>
        <details onToggle={(e) => setOpen(e.currentTarget.open)}>
          <summary>body</summary>
          {open && <Loaded query={whole} height={60}>{(b) => <Json value={b.body} label="body" />}</Loaded>}
        </details>
        {owner && d.ended_at && <Ask label="Send again…" title="Send it again?" confirm="Send it" onConfirm={replay}>It is sent once more under the ID that it had, so that a receiver that has it knows.</Ask>}
      </td>
    </tr>
  );
}

/** What an owner may do with a webhook. */
function Decide({ project, webhook: w, onSecret }: { project: string; webhook: Schemas["Webhook"]; onSecret: (secret: string) => void }) {
  const { owner } = useRights();
  const client = useQueryClient();
  const navigate = useNavigate();
  if (!owner) return null;
  const params = { path: { project, webhook: w.id } };
  const then = async (done: Promise<unknown>) => {
    await done;
    await Promise.all(["webhook", "webhooks", "deliveries"].map((of) => client.invalidateQueries({ queryKey: [of, project] })));
  };
  const name = visible(w.name);
  return (
    <div className={ui.row}>
      <Change webhook={w} onChange={(body) => then(must(api.PATCH("/v1/projects/{project}/webhooks/{webhook}", { params, body })))} />
      <Ask label="Test…" title={`Send a test to ${name}?`} confirm="Send it" onConfirm={() => then(must(api.POST("/v1/projects/{project}/webhooks/{webhook}/test", { params })))}>It gets an event of the kind webhook.test.</Ask>
      {!w.paused && <Ask label="Pause…" title={`Pause ${name}?`} confirm="Pause it" onConfirm={() => then(must(api.POST("/v1/projects/{project}/webhooks/{webhook}/pause", { params })))}>It gets nothing until it is resumed. What waits is sent then; what happens meanwhile is not.</Ask>}
      {w.paused && <Ask label="Resume…" title={`Resume ${name}?`} confirm="Resume it" onConfirm={() => then(must(api.POST("/v1/projects/{project}/webhooks/{webhook}/resume", { params })))}>It gets what waited, and what happens from now on.</Ask>}
      <Ask
        label="New secret…" title={`Make a new secret for ${name}?`} confirm="Make it"
        onConfirm={() => then(must(api.POST("/v1/projects/{project}/webhooks/{webhook}/rotate", { params })).then((made) => onSecret(made.secret)))}
      >It is shown once. For a day both sign, so that the receiver can change it without a gap.</Ask>
      <Ask
        label="Delete…" title={`Delete ${name}?`} confirm="Delete it" danger
        onConfirm={async () => {
          await must(api.DELETE("/v1/projects/{project}/webhooks/{webhook}", { params }));
          await navigate({ to: "/p/$project/webhooks", params: { project } }); // first, or this page asks for what is gone
          await client.invalidateQueries({ queryKey: ["webhooks", project] });
        }}
      >Its deliveries and its secret go with it.</Ask>
    </div>
  );
}

const events = ["job.finished", "job.failed", "job.cancelled", "flag.raised", "schedule.missed", "webhook.paused"] as const;

/** A form that gives a webhook another URL or other events. */
function Change({ webhook: w, onChange }: { webhook: Schemas["Webhook"]; onChange: (body: Schemas["WebhookChange"]) => Promise<unknown> }) {
  // What a person has not touched is what the webhook has now, also where somebody else has changed it meanwhile.
  const [url, setUrl] = useState<string>();
  const [chosen, setChosen] = useState<readonly string[]>();
  const kinds = chosen ?? w.kinds;
  const change = async () => {
    await onChange({ url, kinds: chosen && events.filter((k) => chosen.includes(k)) });
    setUrl(undefined);
    setChosen(undefined);
  };
  return (
    <Ask label="Change…" title={`Change ${visible(w.name)}?`} confirm="Change it" onConfirm={change}>
      <div className={ui.stack}>
        <label className={ui.field}><span>URL</span><input className={ui.input} type="url" required value={url ?? w.url} onChange={(e) => setUrl(e.target.value)} /></label>
        <fieldset style={{ border: 0, padding: 0, margin: 0 }}>
          <legend>Events</legend>
          {events.map((k) => <label key={k} className={ui.row}><input type="checkbox" checked={kinds.includes(k)} onChange={(e) => setChosen(e.target.checked ? [...kinds, k] : kinds.filter((x) => x !== k))} /> {k}</label>)}
        </fieldset>
        <p className={ui.muted}>Its secret stays. What waits goes to the new URL.</p>
      </div>
    </Ask>
  );
}
