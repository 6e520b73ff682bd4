import { queryOptions } from "@tanstack/react-query";

import { api, must } from "./client";
import { states, type Shown } from "../ui/state";

/** The states of shards `from` to `from + codes.length`; a code is a place in `states`. */
export interface ShardMap {
  from: number;
  codes: Uint8Array;
}

/** How many shards a page has. */
export const pageSize = 1024;

/** How many shards are looked at one by one; a larger job is shown by pages. */
export const singleAtMost = 5 * pageSize;

function shown(s: { state: string; lent: number }): Shown {
  if (s.state === "open") return s.lent > 0 ? "running" : "waiting";
  return s.state as Shown;
}

/** The states of a range of shards. */
export const mapQuery = (project: string, job: string, from: number, count: number) =>
  queryOptions({
    queryKey: ["map", project, job, from, count],
    queryFn: async (): Promise<ShardMap> => {
      const codes = new Uint8Array(count);
      for (let cursor = from > 0 ? cursorAfter(from - 1) : undefined, n = 0; n < count; ) {
        const page = await must(api.GET("/v1/projects/{project}/jobs/{job}/shards", { params: { path: { project, job }, query: { limit: 500, cursor } } }));
        for (const s of page.items) {
          if (s.number >= from && s.number < from + count) codes[s.number - from] = states.indexOf(shown(s));
        }
        n += page.items.length;
        cursor = page.next_cursor;
        if (!cursor) break;
      }
      return { from, codes };
    },
  });

function cursorAfter(number: number): string {
  return btoa(`n${number}`).replace(/=+$/, "");
}
