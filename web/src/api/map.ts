import { queryOptions } from "@tanstack/react-query";

import { api, must, type Schemas } from "./client";
import { parseJSON } from "./json";
import { states } from "../ui/state";

/** What a map shows: the states of pages, or of shards how they are, how long they took and who gave the accepted answer, and for how long it is out. */
export type MapMode = "pages" | "state" | "duration" | "agent" | "age";

/** A picture of a part of a job. In the mode pages there are `pageFields` numbers of two bytes for each page, else a byte for each shard. */
export interface JobMap {
  head: Schemas["MapHead"];
  bytes: Uint8Array;
  tag: string;
}

/** How many shards a page has. */
export const pageSize = 1024;

/** How many shards are looked at one by one; a larger job is shown by pages. */
export const singleAtMost = 5 * pageSize;

const pageFields = 8;

/** The place in `states` of each code of the mode state: what is accepted is final or not. */
const codes = ["waiting", "running", "voting", "accepted", "accepted", "review", "failed", "cancelled"].map((s) => states.findIndex((t) => t === s));
const provisional = 3;

/** A map of the pages `from` to `to` of a job; only what is different is sent when an older one is at hand. */
export const mapQuery = (project: string, job: string, mode: MapMode, from?: number, to?: number) =>
  queryOptions({
    queryKey: ["map", project, job, mode, from, to],
    queryFn: async ({ client, queryKey }): Promise<JobMap> => {
      const old = client.getQueryData<JobMap>(queryKey);
      const answer = await api.GET("/v1/projects/{project}/jobs/{job}/map", {
        params: { path: { project, job }, query: { mode, from, to, since: old?.tag }, header: old && { "If-None-Match": old.tag } }, parseAs: "arrayBuffer", cache: "no-store",
      });
      if (answer.response.status === 304 && old) return old;
      const body = new Uint8Array((await must(Promise.resolve(answer))) as unknown as ArrayBuffer);
      const line = body.indexOf(10);
      const head = parseJSON(new TextDecoder().decode(body.subarray(0, line))) as Schemas["MapHead"];
      const rest = body.subarray(line + 1);
      return { head, bytes: head.delta && old ? changed(old.bytes, rest) : rest, tag: answer.response.headers.get("ETag") ?? "" };
    },
  });

/** Applies changes to a copy of a map: each is an offset and a length of 4 bytes, and that many bytes. */
export function changed(old: Uint8Array, changes: Uint8Array): Uint8Array {
  const now = old.slice();
  const view = new DataView(changes.buffer, changes.byteOffset, changes.length);
  for (let i = 0; i < changes.length; ) {
    const at = view.getUint32(i, true);
    const length = view.getUint32(i + 4, true);
    now.set(changes.subarray(i + 8, i + 8 + length), at);
    i += 8 + length;
  }
  return now;
}

/** How many shards of a tile are in each state of `states`. */
export interface Counted {
  counts: Uint32Array;
  provisional: boolean;
  reopened: boolean;
}

/** The states of one shard of a map in the mode state. */
export function shardCounts(code: number): Counted {
  const counts = new Uint32Array(states.length);
  counts[codes[code] ?? 0] = 1;
  return { counts, provisional: code === provisional, reopened: false };
}

/** The states of `pages` pages from `first` on, counted from where the map begins. */
export function pageCounts(map: JobMap, first: number, pages: number): Counted {
  const counts = new Uint32Array(states.length);
  const view = new DataView(map.bytes.buffer, map.bytes.byteOffset, map.bytes.length);
  let reopened = false;
  let open = 0;
  for (let p = first; p < Math.min(first + pages, map.head.to - map.head.from); p++) {
    const field = (i: number) => view.getUint16((p * pageFields + i) * 2, true);
    const running = Math.min(field(0), field(6));
    const add = (state: (typeof states)[number], n: number) => { counts[states.indexOf(state)]! += n; };
    add("waiting", field(0) - running);
    add("running", running);
    add("accepted", field(1) + field(2));
    add("review", field(3));
    add("failed", field(4));
    add("cancelled", field(5));
    open += field(1);
    reopened ||= field(7) > 0;
  }
  return { counts, provisional: open > 0, reopened };
}
