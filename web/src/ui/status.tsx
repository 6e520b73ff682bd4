import { useQuery } from "@tanstack/react-query";

import css from "./ui.module.css";
import { api, must } from "../api/client";
import { bytes, digits, duration } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { AsCalls, visible, When } from "./bits";
import { Card, Loaded, Nothing } from "./panel";
import { Pill } from "./state";

/** How the installation is: what waits, what it costs, and when it was backed up last. */
export function Status() {
  const status = useQuery({ queryKey: ["status"], queryFn: () => must(api.GET("/v1/status")), refetchInterval: useEvery(5000) });
  return (
    <>
      <Card title="How it is" aside={<AsCalls cli="ostraka status" curl={'curl -H "Authorization: Bearer $OSTRAKA_KEY" "$OSTRAKA_URL/v1/status"'} />}>
        <Loaded query={status}>
          {(s) => (
            <dl className={css.facts}>
              <dt>Agents</dt><dd>{digits(s.agents_seen)} of {digits(s.agents.active ?? 0)} active ones heard of in the last minute, {digits(s.sandboxes)} sandboxes at work{(s.agents.pending ?? 0) > 0 && `, ${digits(s.agents.pending!)} wait to be approved`}</dd>
              <dt>Jobs</dt><dd>{digits(s.open_jobs)} open in {digits(s.projects)} projects; {digits(s.approvals)} approvals wait for an operator</dd>
              <dt>Last backup</dt><dd>{s.last_backup ? <When at={s.last_backup} /> : <><Pill as="review">none</Pill> <code>ostraka backup</code></>}</dd>
              <dt>Database</dt><dd>{bytes(s.database_bytes)}, and objects of {bytes(s.object_bytes)}</dd>
              <dt>Executed by servers</dt><dd>{duration(s.recheck_seconds * 1000)} today (UTC)</dd>
            </dl>
          )}
        </Loaded>
      </Card>
      <Card title="Queues" flush>
        <Loaded query={status} empty={(s) => s.queues.length === 0} none={<Nothing title="No step waits." />}>
          {(s) => (
            <table className={css.table}>
              <thead><tr><th scope="col">Queue</th><th scope="col" className={css.num}>Ready</th><th scope="col">Oldest has waited</th><th scope="col" className={css.num}>Tried again</th></tr></thead>
              <tbody>{s.queues.map((q) => <tr key={q.queue}><td>{q.queue}</td><td className={css.num}>{digits(q.ready)}</td><td>{q.ready > 0 ? duration(q.oldest_seconds * 1000) : "–"}</td><td className={css.num}>{digits(q.failing)}</td></tr>)}</tbody>
            </table>
          )}
        </Loaded>
      </Card>
      <Card title="What waits in projects" flush>
        <Loaded query={status} empty={(s) => s.waits.length === 0} none={<Nothing title="Nothing waits." />}>
          {(s) => (
            <table className={css.table}>
              <thead><tr><th scope="col">Project</th><th scope="col" className={css.num}>Open jobs</th><th scope="col" className={css.num}>Open shards</th><th scope="col" className={css.num}>Flags</th><th scope="col" className={css.num}>Approvals</th><th scope="col" className={css.num}>Incidents</th><th scope="col" className={css.num}>Failing webhooks</th><th scope="col" className={css.num}>Objects</th></tr></thead>
              <tbody>{s.waits.map((p) => <tr key={p.id}><td>{visible(p.name)}</td><td className={css.num}>{digits(p.open_jobs)}</td><td className={css.num}>{digits(p.open_shards)}</td><td className={css.num}>{digits(p.flags)}</td><td className={css.num}>{digits(p.approvals)}</td><td className={css.num}>{digits(p.incidents)}</td><td className={css.num}>{digits(p.failing_webhooks)}</td><td className={css.num}>{bytes(p.object_bytes)}</td></tr>)}</tbody>
            </table>
          )}
        </Loaded>
      </Card>
    </>
  );
}
