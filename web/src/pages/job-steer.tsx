import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { api, must, type Schemas } from "../api/client";
import { printJSON } from "../api/json";
import { jobQuery } from "../api/reads";
import { digits, plural } from "../lib/format";
import { sameAgain, usualPriority } from "../lib/rerun";
import { Ask } from "../ui/bits";
import { Card, Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { curl } from "./common";

const highest = 9;

/** What can be done to a job, as the command line and curl do it. */
export function jobCalls(project: string, j: Schemas["Job"]) {
  const at = `/v1/projects/${project}/jobs/${j.id}`;
  return {
    cli: [`ostraka job show ${j.id}`, `ostraka job watch ${j.id}`, `ostraka job explain ${j.id}`, `ostraka job set-priority ${j.id} --to ${j.priority}`, `ostraka job cancel ${j.id}`, `ostraka job rerun ${j.id}`].join("\n"),
    curl: [curl("GET", at), curl("PUT", `${at}/priority`, { priority: j.priority }), curl("POST", `${at}/cancel`), curl("POST", `/v1/projects/${project}/jobs`, JSON.parse(printJSON(sameAgain(j), 0)))].join("\n"),
  };
}

/** Submits the job once more as it was; the form that runs a function changes it first. */
export function Rerun({ project, job: j }: { project: string; job: Schemas["Job"] }) {
  const navigate = useNavigate();
  return (
    <Ask
      label="Rerun…" title="Run this job once more?" confirm="Run it"
      onConfirm={async () => {
        const made = await must(api.POST("/v1/projects/{project}/jobs", {
          params: { path: { project }, header: { "Idempotency-Key": crypto.randomUUID() } as never }, body: sameAgain(j), bodySerializer: (b) => printJSON(b, 0),
        }));
        await navigate({ to: "/p/$project/jobs/$job", params: { project, job: made.id } });
      }}
    >
      A new job: {plural(j.shards.total, "shard")} of {j.function} version {digits(j.version)}, checked and folded in the same way. This one stays as it is. Agents with an incident in it, and the other agents of their owners, have no part in the new one.
    </Ask>
  );
}

/** How large the job's share of its project's turns is. */
export function Priority({ project, job: j, owner }: { project: string; job: Schemas["Job"]; owner: boolean }) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const set = (priority: number) => {
    setError(undefined);
    must(api.PUT("/v1/projects/{project}/jobs/{job}/priority", { params: { path: { project, job: j.id } }, body: { priority } })).then((now) => client.setQueryData(jobQuery(project, j.id).queryKey, now), setError);
  };
  return (
    <Card title="Its turn">
      <label className={ui.row}>
        <span>Priority</span>
        <select className={ui.input} style={{ width: "auto" }} value={j.priority} onChange={(e) => set(Number(e.target.value))}>
          {Array.from({ length: highest }, (_, i) => i + 1).map((p) => <option key={p} value={p} disabled={p > usualPriority && !owner}>{p}{p === usualPriority && " (usual)"}</option>)}
        </select>
      </label>
      <small className={ui.muted}>Each step doubles its share of the project&apos;s turns, from the next lease on.{!owner && " More than 5 is for owners."}</small>
      {error !== undefined && <Trouble error={error} />}
    </Card>
  );
}
