import { queryOptions } from "@tanstack/react-query";

import { api, must, type Schemas } from "./client";
import { whoAmI } from "./session";

export const sessionQuery = queryOptions({ queryKey: ["session"], queryFn: whoAmI, staleTime: 60_000 });

export const projectQuery = (project: string) =>
  queryOptions({ queryKey: ["project", project], queryFn: () => must(api.GET("/v1/projects/{project}", { params: { path: { project } } })), staleTime: 60_000 });

export const jobQuery = (project: string, job: string) =>
  queryOptions({ queryKey: ["job", project, job], queryFn: () => must(api.GET("/v1/projects/{project}/jobs/{job}", { params: { path: { project, job } } })) });

export const explainQuery = (project: string, job: string) =>
  queryOptions({ queryKey: ["explain", project, job], queryFn: () => must(api.GET("/v1/projects/{project}/jobs/{job}/explain", { params: { path: { project, job } } })) });

export const shardQuery = (project: string, job: string, number: number) =>
  queryOptions({
    queryKey: ["shard", project, job, number],
    queryFn: () => must(api.GET("/v1/projects/{project}/jobs/{job}/shards/{number}", { params: { path: { project, job, number } } })),
  });

/** Every event of the job up to now. */
export const eventsQuery = (project: string, job: string) =>
  queryOptions({
    queryKey: ["events", project, job],
    queryFn: async ({ client, queryKey }) => {
      const all = [...(client.getQueryData<Schemas["Event"][]>(queryKey) ?? [])]; // what has happened stays as it is
      for (let since = all.at(-1)?.seq ?? 0; ; ) {
        const log = await must(api.GET("/v1/projects/{project}/jobs/{job}/event-log", { params: { path: { project, job }, query: { since, limit: 500 } } }));
        all.push(...log.items);
        if (log.items.length < 500 || log.next === since || all.length >= 5000) return all;
        since = log.next;
      }
    },
  });

export const agentsQuery = (project: string) =>
  queryOptions({
    queryKey: ["agents", project],
    queryFn: async () => {
      const all = [];
      for (let cursor: string | undefined; ; ) {
        const page = await must(api.GET("/v1/projects/{project}/agents", { params: { path: { project }, query: { limit: 500, cursor } } }));
        all.push(...page.items);
        cursor = page.next_cursor;
        if (!cursor || all.length >= 5000) return all;
      }
    },
  });

export const flagsQuery = (project: string, filter: { job?: string; state?: "open" | "resolved"; kind?: string; agent?: string }) =>
  queryOptions({
    queryKey: ["flags", project, filter],
    queryFn: () => must(api.GET("/v1/projects/{project}/flags", { params: { path: { project }, query: { limit: 500, ...filter } } })),
  });

export const sandboxesQuery = (project: string, filter: { job?: string; agent?: string; running?: boolean }) =>
  queryOptions({
    queryKey: ["sandboxes", project, filter],
    queryFn: () => must(api.GET("/v1/projects/{project}/sandboxes", { params: { path: { project }, query: { limit: 100, ...filter } } })),
  });
