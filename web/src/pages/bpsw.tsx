import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";

import { api, must } from "../api/client";
import { Card, Loaded, Nothing } from "../ui/panel";
import { useEvery } from "../lib/prefs";
import ui from "../ui/ui.module.css";
import { JobTable } from "./jobs";
import { RunPage } from "./run";

export function BpswPage() {
  const { project } = useParams({ strict: false }) as { project: string };
  const jobs = useQuery({
    queryKey: ["runs", project, "bpsw"],
    queryFn: () => must(api.GET("/v1/projects/{project}/jobs", { params: { path: { project }, query: { function: "bpsw", limit: 50 } } })),
    refetchInterval: useEvery(4000),
  });
  return (
    <div className={ui.page}>
      <RunPage bpsw />
      <Card title="Searches" flush>
        <Loaded query={jobs} empty={(d) => d.items.length === 0} none={<Nothing title="No search yet."><code>ostraka function push examples/bpsw</code></Nothing>}>{(d) => <JobTable project={project} items={d.items} />}</Loaded>
      </Card>
    </div>
  );
}
