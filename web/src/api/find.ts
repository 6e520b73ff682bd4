import { useQuery } from "@tanstack/react-query";

import { api, must, ProblemError } from "./client";
import { agentsQuery } from "./reads";

/** A page that the query field leads to. */
export interface Target {
  name: string;
  kind: string;
  to: string;
  search?: Record<string, string>;
}

/** The pages of a project, as the navigation names them. */
export const pages = {
  overview: "Overview", jobs: "Jobs", review: "Review", agents: "Agents", functions: "Functions", modules: "Modules", runtimes: "Runtimes", rules: "Rules", schedules: "Schedules", workflows: "Workflows",
  webhooks: "Webhooks", guardian: "Guardian", approvals: "Approvals", audit: "Audit log", bulk: "Bulk actions", archives: "Archives", bpsw: "BPSW search", settings: "Settings", run: "Run a function", push: "Push a function or a module",
} as const;

/** What the words of a query choose of the jobs: state:failed fn:bpsw. */
export function jobFilter(text: string): Record<string, string> | undefined {
  const words = text.split(/\s+/).map((word) => /^(state|fn|function):(\S+)$/.exec(word));
  if (!words.every((w) => w !== null)) return undefined;
  return Object.fromEntries(words.map((w) => [w![1] === "state" ? "state" : "function", w![2]!]));
}

/** Everything known here that a text may mean: what begins with it comes first. */
export function useCandidates(project: string, job: string | undefined, text: string, enabled: boolean): Target[] {
  const path = { project };
  const options = { enabled, staleTime: 30_000 };
  const functions = useQuery({ queryKey: ["functions", project], queryFn: () => must(api.GET("/v1/projects/{project}/functions", { params: { path, query: { limit: 500 } } })), ...options });
  const modules = useQuery({ queryKey: ["modules", project], queryFn: () => must(api.GET("/v1/projects/{project}/modules", { params: { path, query: { limit: 500 } } })), ...options });
  const jobs = useQuery({ queryKey: ["overview-jobs", project], queryFn: () => must(api.GET("/v1/projects/{project}/jobs", { params: { path, query: { limit: 50 } } })), ...options });
  const agents = useQuery({ ...agentsQuery(project), ...options });
  if (!enabled || text === "") return [];
  const at = `/p/${project}`;
  const filter = jobFilter(text);
  if (filter) return [{ name: text, kind: "jobs", to: `${at}/jobs`, search: filter }];
  const all: Target[] = [
    ...(job && /^\d{1,8}$/.test(text) ? [{ name: text, kind: "shard of this job", to: `${at}/jobs/${job}/shards/${Number(text)}` }] : []),
    ...Object.entries(pages).map(([to, name]) => ({ name, kind: "page", to: `${at}/${to}` })),
    ...(functions.data?.items ?? []).map((f) => ({ name: f.name, kind: "function", to: `${at}/functions/${f.name}` })),
    ...(modules.data?.items ?? []).map((m) => ({ name: m.name, kind: "module", to: `${at}/modules/${m.name}` })),
    ...(agents.data ?? []).flatMap((a) => [{ name: a.name, kind: "agent", to: `${at}/agents/${a.id}` }, { name: a.id, kind: `agent ${a.name}`, to: `${at}/agents/${a.id}` }]),
    ...(jobs.data?.items ?? []).map((j) => ({ name: j.id, kind: `job of ${j.function}, ${j.state}`, to: `${at}/jobs/${j.id}` })),
  ];
  const wanted = text.toLowerCase();
  const place = (t: Target) => t.name.toLowerCase().indexOf(wanted);
  return all.filter((t) => place(t) >= 0).sort((a, b) => Math.min(place(a), 1) - Math.min(place(b), 1));
}

/** What has an ID; null when nothing of the project has it. */
export async function findID(project: string, id: string): Promise<Target | null> {
  const at = `/p/${project}`;
  const kinds: [string, string, () => Promise<unknown>][] = [
    ["job", `${at}/jobs/${id}`, () => must(api.GET("/v1/projects/{project}/jobs/{job}", { params: { path: { project, job: id } } }))],
    ["agent", `${at}/agents/${id}`, () => must(api.GET("/v1/projects/{project}/agents/{agent}", { params: { path: { project, agent: id } } }))],
    ["flag", `${at}/review/${id}`, () => must(api.GET("/v1/projects/{project}/flags/{flag}", { params: { path: { project, flag: id } } }))],
    ["workflow run", `${at}/workflow-runs/${id}`, () => must(api.GET("/v1/projects/{project}/workflow-runs/{run}", { params: { path: { project, run: id } } }))],
    ["schedule", `${at}/schedules/${id}`, () => must(api.GET("/v1/projects/{project}/schedules/{schedule}", { params: { path: { project, schedule: id } } }))],
    ["webhook", `${at}/webhooks/${id}`, () => must(api.GET("/v1/projects/{project}/webhooks/{webhook}", { params: { path: { project, webhook: id } } }))],
    ["bulk action", `${at}/bulk/${id}`, () => must(api.GET("/v1/projects/{project}/bulk-actions/{bulk}", { params: { path: { project, bulk: id } } }))],
  ];
  for (const [kind, to, read] of kinds) {
    try {
      await read();
      return { name: id, kind, to };
    } catch (e) {
      if (!(e instanceof ProblemError) || ![403, 404].includes(e.problem.status)) throw e; // it is none of these, or nothing for this role
    }
  }
  return null;
}
