import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";

import css from "./job.module.css";
import { api, must } from "../api/client";
import { agentsQuery, flagsQuery } from "../api/reads";
import { useUntold } from "../api/stream";
import { useWaiting } from "../api/waiting";
import { digits, plural } from "../lib/format";
import { endedStates } from "../lib/jobs";
import { useEvery } from "../lib/prefs";
import { Text } from "../ui/bits";
import { Card, Loaded, Nothing } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { flagTitle, waits } from "./flag-words";
import { useAgentNames } from "./job";
import { JobTable } from "./jobs";

export function OverviewPage() {
  const { project } = useParams({ from: "/signed/p/$project/overview" });
  const every = useUntold(4000);
  const jobs = useQuery({
    queryKey: ["overview-jobs", project],
    queryFn: () => must(api.GET("/v1/projects/{project}/jobs", { params: { path: { project }, query: { limit: 50 } } })),
    refetchInterval: every,
  });
  const flags = useQuery({ ...flagsQuery(project, { state: "open" }), refetchInterval: every });
  const agents = useQuery({ ...agentsQuery(project), refetchInterval: every });
  const switches = useQuery({
    queryKey: ["project-switches", project],
    queryFn: () => must(api.GET("/v1/projects/{project}/killswitches", { params: { path: { project } } })),
    refetchInterval: useEvery(4000),
  });
  const name = useAgentNames(project);
  const now = Date.now();
  const online = (agents.data ?? []).filter((a) => a.last_seen_at && now - Date.parse(a.last_seen_at) < 60_000 && a.state === "active" && !a.caught_at);
  const caught = (agents.data ?? []).filter((a) => a.caught_at);
  const items = jobs.data?.items ?? [];
  const going = items.filter((j) => !endedStates.has(j.state));
  const listed = (flags.data?.items ?? []).filter(waits);
  const { open: wait, more } = useWaiting(project);
  const on = (switches.data?.items ?? []).filter((s) => !s.off_at);
  return (
    <div className={ui.page}>
      <h1>Overview</h1>
      <div className={css.numbers}>
        <div className={css.number}><span>Jobs going on</span><b>{digits(going.length)}</b><small>{plural(going.reduce((n, j) => n + j.shards.open, 0), "open shard")}</small></div>
        <div className={css.number}><span>Agents at hand</span><b>{digits(online.length)}</b><small>of {digits(agents.data?.length ?? 0)}</small></div>
        <div className={css.number}><span>Caught</span><b style={caught.length ? { color: "var(--danger)" } : undefined}>{digits(caught.length)}</b><small>lent nothing any more</small></div>
        <div className={css.number}><span>Wait for a person</span><b>{digits(wait)}{more && "+"}</b><small>open flags</small></div>
      </div>
      {on.map((s) => (
        <section key={s.id} className={css.caught} aria-label="Kill switch">
          <div />
          <div><h2>A kill switch is on</h2><p>{s.reason || "No reason was given."} {s.scope === "function" ? `Function ${s.function}.` : s.scope === "project" ? "The whole project." : "Everything."}</p></div>
          <div />
        </section>
      ))}
      <Card title="Needs attention" flush>
        <Loaded query={flags} height={80} empty={() => listed.length === 0} none={wait > 0 || more ? <Nothing title={wait > 0 ? `${plural(wait, "flag")} wait${wait === 1 ? "s" : ""} for a person.` : "There are more flags than are listed here."}><Link to="/p/$project/review" params={{ project }}>Go to the review</Link></Nothing> : <Nothing title="Nothing needs you." />}>
          {() => (
            <table className={ui.table}>
              <tbody>
                {listed.slice(0, 8).map((f) => (
                  <tr key={f.id}>
                    <td><Link to="/p/$project/review/$flag" params={{ project, flag: f.id }}>{flagTitle(f, name)}</Link></td>
                    <td className={ui.muted}>{f.function}</td>
                    <td className={ui.num}>{f.times > 1 ? `${digits(f.times)} times` : ""}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
      </Card>
      <Card title="Latest jobs" flush aside={<Link to="/p/$project/jobs" params={{ project }}>All jobs</Link>}>
        <Loaded
          query={jobs}
          empty={(d) => d.items.length === 0}
          none={
            <Nothing title="Three commands from here to an answer">
              <div style={{ textAlign: "left", width: "min(40rem, 100%)" }}>
                <Text label="commands" text={"ostraka function push examples/bpsw\nostraka job run bpsw --range 2^64:2^64+10^6 --shard-size 5000\nostraka open"} />
              </div>
            </Nothing>
          }
        >
          {() => <JobTable project={project} items={items.slice(0, 10)} />}
        </Loaded>
      </Card>
    </div>
  );
}
