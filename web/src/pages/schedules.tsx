import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";

import { api, must, type Schemas } from "../api/client";
import { digits } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { partitionWords } from "../lib/words";
import { Ask, AsCalls, Id, Json, visible, When } from "../ui/bits";
import { Card, Loaded, Nothing, Trouble } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";

type Spec = Schemas["ScheduleRequest"];

const overlaps = { skip: "is skipped", queue: "waits", "cancel-other": "has it cancelled" };
const catchUps = { none: "do not come", one: "come once, the newest", all: "come, ten at most" };
const outcomes = { submitted: "accepted", skipped: "waiting", missed: "waiting", failed: "failed" } as const;

/** When its times are, as it was written. */
function timetable(spec: Spec) {
  return spec.cron ? <><code>{visible(spec.cron)}</code> <span className={ui.muted}>{visible(spec.time_zone ?? "UTC")}</span></> : <>every <code>{visible(spec.every ?? "")}</code></>;
}

/** What each of its times makes. */
function Runs({ spec }: { spec: Spec }) {
  const { job, workflow } = spec;
  if (workflow) return <>workflow {visible(workflow.name)}{workflow.version ? ` v${workflow.version}` : ""}</>;
  if (!job) return <>–</>;
  return <>{visible(job.function)}{job.version ? ` v${job.version}` : ""} <span className="mono">{partitionWords(job.partition)}</span></>;
}

function SchedulePill({ schedule }: { schedule: Schemas["Schedule"] }) {
  if (schedule.spec.paused) return <Pill as="cancelled">paused</Pill>;
  if (schedule.waits) return <Pill as="waiting">waits for the one before it</Pill>;
  return schedule.next_at ? <Pill as="accepted">on</Pill> : <Pill as="cancelled">over</Pill>;
}

export function SchedulesPage() {
  const { project } = useParams({ from: "/signed/p/$project/schedules" });
  const schedules = useQuery({
    queryKey: ["schedules", project], refetchInterval: useEvery(5000),
    queryFn: () => must(api.GET("/v1/projects/{project}/schedules", { params: { path: { project }, query: { limit: 500 } } })),
  });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Schedules</h1>
        <AsCalls cli="ostraka schedule list" curl={curl("GET", `/v1/projects/${project}/schedules`)} />
      </div>
      <Card flush>
        <Loaded query={schedules} empty={(d) => d.items.length === 0} none={<Nothing title="No schedule yet."><p>A schedule submits a job, or starts a workflow, at the times of a timetable, again and again.</p><code>ostraka schedule create nightly --cron '0 3 * * *' --time-zone Europe/Berlin --function FUNCTION --range 1:10^6</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th scope="col">Schedule</th><th scope="col">When</th><th scope="col">Runs</th><th scope="col">Next</th><th scope="col">State</th></tr></thead>
              <tbody>
                {d.items.map((s) => (
                  <tr key={s.id}>
                    <td><Link to="/p/$project/schedules/$schedule" params={{ project, schedule: s.id }}><strong>{visible(s.spec.name)}</strong></Link></td>
                    <td>{timetable(s.spec)}</td>
                    <td><Runs spec={s.spec} /></td>
                    <td>{s.next_at ? <When at={s.next_at} /> : "–"}</td>
                    <td><SchedulePill schedule={s} />{s.failures > 0 && <div className={ui.muted}>{digits(s.failures)} in a row failed: {visible(s.last_error ?? "")}</div>}</td>
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

export function SchedulePage() {
  const { project, schedule } = useParams({ from: "/signed/p/$project/schedules/$schedule" });
  const detail = useQuery({
    queryKey: ["schedule", project, schedule], refetchInterval: useEvery(5000),
    queryFn: () => must(api.GET("/v1/projects/{project}/schedules/{schedule}", { params: { path: { project, schedule } } })),
  });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>{visible(detail.data?.spec.name ?? "Schedule")}</h1>
        <AsCalls cli={`ostraka schedule show ${detail.data?.spec.name ?? schedule}`} curl={curl("GET", `/v1/projects/${project}/schedules/${schedule}`)} />
      </div>
      <Loaded query={detail}>
        {(s) => (
          <>
            <Card title="What it does" aside={<Decide project={project} schedule={s} />}>
              <dl className={ui.facts}>
                <dt>State</dt><dd><SchedulePill schedule={s} /> {visible(s.pause_reason ?? "")}</dd>
                <dt>When</dt><dd>{timetable(s.spec)}{s.spec.jitter ? `, up to ${visible(s.spec.jitter)} late` : ""}{s.spec.starts && <>, from <When at={s.spec.starts} /></>}{s.spec.ends && <>, until <When at={s.spec.ends} /></>}</dd>
                <dt>While the one before still runs</dt><dd>the next time {overlaps[s.spec.overlap ?? "skip"]}</dd>
                <dt>Times that were missed</dt><dd>{catchUps[s.spec.catch_up ?? "none"]}</dd>
                <dt>Made</dt><dd><When at={s.created_at} />, by {visible(s.created_by)}</dd>
                <dt>ID</dt><dd><Id value={s.id} whole /></dd>
              </dl>
              {s.failures > 0 && <Trouble error={new Error(`${s.failures} times in a row came to nothing; at ten it is paused. The last: ${s.last_error ?? ""}`)} />}
            </Card>
            <Card title="What became of the last times" flush>
              {s.firings.length === 0 ? <Nothing title="None has come yet." /> : (
                <table className={ui.table}>
                  <thead><tr><th scope="col">Time</th><th scope="col">Came to</th><th scope="col">Job or run</th><th scope="col">Because</th></tr></thead>
                  <tbody>
                    {s.firings.map((f) => (
                      <tr key={`${f.at} ${f.fired_at}`}>
                        <td><When at={f.at} />{f.by_hand && " by hand"}</td>
                        <td><Pill as={outcomes[f.outcome]}>{f.outcome}</Pill></td>
                        <td>{f.job ? <Link to="/p/$project/jobs/$job" params={{ project, job: f.job }}>{f.job}</Link> : f.run ? <code>{f.run}</code> : "–"}</td>
                        <td>{visible(f.detail ?? "")}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
            </Card>
            <Card title="The next times" flush>
              {s.next.length === 0 ? <Nothing title="None comes." /> : (
                <table className={ui.table}>
                  <thead><tr><th scope="col">By the timetable</th></tr></thead>
                  <tbody>{s.next.map((n) => <tr key={n.at}><td><When at={n.at} /></td></tr>)}</tbody>
                </table>
              )}
            </Card>
            {s.spec.workflow ? <Card title="The workflow that it starts"><Json value={s.spec.workflow} label="workflow" /></Card> : <Card title="The job that it submits"><Json value={s.spec.job} label="job" /></Card>}
          </>
        )}
      </Loaded>
    </div>
  );
}

/** What whoever looks at a schedule may do with it. */
function Decide({ project, schedule }: { project: string; schedule: Schemas["ScheduleDetail"] }) {
  const { owner, submit } = useRights();
  const client = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { project, schedule: schedule.id } };
  const then = async (done: Promise<unknown>) => {
    await done;
    await Promise.all([client.invalidateQueries({ queryKey: ["schedule", project] }), client.invalidateQueries({ queryKey: ["schedules", project] })]);
  };
  const name = visible(schedule.spec.name);
  return (
    <div className={ui.row}>
      {submit && !schedule.spec.workflow && <Ask label="Run now…" title={`Run ${name} now?`} confirm="Run it" onConfirm={() => then(must(api.POST("/v1/projects/{project}/schedules/{schedule}/run", { params })))}>Its job is submitted beside whatever else of it runs. The times stay as they are.</Ask>}
      {owner && !schedule.spec.paused && <Ask label="Pause…" title={`Pause ${name}?`} confirm="Pause it" onConfirm={() => then(must(api.POST("/v1/projects/{project}/schedules/{schedule}/pause", { params })))}>No time comes until it is resumed, and what the pause has missed does not come. Jobs that run go on.</Ask>}
      {owner && schedule.spec.paused && <Ask label="Resume…" title={`Resume ${name}?`} confirm="Resume it" onConfirm={() => then(must(api.POST("/v1/projects/{project}/schedules/{schedule}/resume", { params })))}>Its times come again, from the next one on.</Ask>}
      {owner && (
        <Ask
          label="Delete…" title={`Delete ${name}?`} confirm="Delete it" danger
          onConfirm={async () => {
            await must(api.DELETE("/v1/projects/{project}/schedules/{schedule}", { params: { ...params, header: { "If-Match": `"${schedule.revision}"` } as never } }));
            await navigate({ to: "/p/$project/schedules", params: { project } }); // first, or this page asks for what is gone
            await client.invalidateQueries({ queryKey: ["schedules", project] });
          }}
        >The jobs and runs that it made stay.</Ask>
      )}
    </div>
  );
}
