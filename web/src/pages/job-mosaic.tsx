import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useRef } from "react";

import type { Schemas } from "../api/client";
import { mapQuery, pageCounts, pageSize, shardCounts, singleAtMost, type JobMap, type MapMode } from "../api/map";
import { eventsQuery, flagsQuery } from "../api/reads";
import { useUntold } from "../api/stream";
import { digits, duration, percent, plural } from "../lib/format";
import { Mosaic } from "../ui/mosaic";
import type { Tile } from "../ui/mosaic-draw";
import { Card, Loaded } from "../ui/panel";
import { states, type Shown } from "../ui/state";
import ui from "../ui/ui.module.css";
import { useAgentNames, wrongAnswers } from "./job";

const accepted = states.indexOf("accepted");

/** How many tiles of pages are drawn at most; beyond them a tile is two, four, eight… pages. */
const tilesAtMost = 4096;

/** What the tiles show of shards. */
const modes = { state: "state", duration: "how long it took", agent: "who answered", age: "how long it is out" } as const;
type Mode = keyof typeof modes;

interface Window {
  /** The first page, and the one after the last. */
  from: number;
  to: number;
  /** Whether tiles are pages, and how many pages each is. */
  byPage: boolean;
  per: number;
}

/** The part of a job that an address shows: a page, some pages, or all of it. */
export function windowOf(shards: number, search: { page?: string; from?: string; to?: string }): Window {
  const pages = Math.ceil(shards / pageSize);
  const number = (text: string | undefined) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined);
  const page = number(search.page);
  if (page !== undefined) return { from: Math.min(page - 1, pages - 1), to: Math.min(page, pages), byPage: false, per: 1 };
  if (shards <= singleAtMost) return { from: 0, to: pages, byPage: false, per: 1 };
  const from = Math.min(Math.max((number(search.from) ?? 1) - 1, 0), pages - 1);
  const to = Math.max(from + 1, Math.min(number(search.to) ?? pages, pages));
  let per = 1;
  while ((to - from) / per > tilesAtMost) per *= 2;
  return { from, to, byPage: true, per };
}

/** When what was accepted here ceased to be so under our eyes, for each tile. */
function useTaken(map: JobMap | undefined, key: string, standing: (map: JobMap) => Uint32Array): Float64Array {
  const seen = useRef<{ key: string; map?: JobMap; standing: Uint32Array; at: Float64Array }>({ key: "", standing: new Uint32Array(), at: new Float64Array() });
  if (map && (seen.current.map !== map || seen.current.key !== key)) {
    const now = standing(map);
    const same = seen.current.key === key && seen.current.standing.length === now.length;
    const at = same ? seen.current.at : new Float64Array(now.length);
    if (same) for (let i = 0; i < now.length; i++) if (now[i]! < seen.current.standing[i]!) at[i] = Date.now();
    seen.current = { key, map, standing: now, at };
  }
  return seen.current.at;
}

/** The job as a picture: its shards, or for a large one its pages, and one of them opened. */
export function JobMosaic({ project, job, ended }: { project: string; job: Schemas["Job"]; ended: boolean }) {
  const search = useSearch({ strict: false }) as { page?: string; from?: string; to?: string; only?: Shown; colour?: Mode };
  const navigate = useNavigate();
  const every = useUntold(1500);
  const w = windowOf(job.shards.total, search);
  const mode: MapMode = w.byPage ? "pages" : search.colour && search.colour in modes ? search.colour : "state";
  const map = useQuery({ ...mapQuery(project, job.id, mode, w.from, w.to), enabled: job.shards.total > 0, refetchInterval: ended ? false : every, placeholderData: keepPreviousData, staleTime: ended ? Infinity : 400 });
  const flags = useQuery({ ...flagsQuery(project, { job: job.id }), staleTime: 5000 });
  const name = useAgentNames(project);
  useQuery(eventsQuery(project, job.id));
  const key = `${mode} ${w.from} ${w.to}`;
  const data = map.data?.head.mode === mode && map.data.head.from === w.from ? map.data : undefined;
  const counted = useMemo(() => (data ? counts(data, w) : []), [data, w.per]);
  const taken = useTaken(data, key, () => Uint32Array.from(counted, (c) => c.counts[accepted]!));
  const tiles = useMemo<Tile[]>(() => {
    const wrong = new Map<number, number>();
    for (const [, shard] of wrongAnswers(flags.data?.items ?? [])) {
      const at = w.byPage ? Math.floor((Math.floor(shard / pageSize) - w.from) / w.per) : shard - w.from * pageSize;
      wrong.set(at, (wrong.get(at) ?? 0) + 1);
    }
    return counted.map((c, i) => ({ counts: c.counts, provisional: c.provisional, wrong: wrong.get(i) ?? 0, takenAt: taken[i] ?? 0, ...colour(data!, mode, i, name) }));
  }, [counted, flags.data, data, mode, name, taken, w.byPage, w.from, w.per]);

  const first = w.from * pageSize;
  const last = Math.min(w.to * pageSize, job.shards.total) - 1;
  const tileName = (i: number) => {
    if (!w.byPage) return `Shard ${digits(first + i)}`;
    const page = w.from + i * w.per + 1;
    return w.per === 1 ? `Page ${digits(page)}` : `Pages ${digits(page)} to ${digits(Math.min(page + w.per - 1, w.to))}`;
  };
  const openTile = (i: number) => {
    const page = w.from + i * w.per + 1;
    if (!w.byPage) void navigate({ to: "/p/$project/jobs/$job/shards/$shard", params: { project, job: job.id, shard: String(first + i) } });
    else if (w.per === 1) void navigate({ to: ".", search: { ...search, page: String(page) } });
    else void navigate({ to: ".", search: { ...search, from: String(page), to: String(Math.min(page + w.per - 1, w.to)) } });
  };
  const whole = search.page === undefined && search.from === undefined && search.to === undefined;
  const title = w.byPage ? `${plural(w.to - w.from, "page")} of ${digits(pageSize)} shards` : search.page !== undefined ? `Page ${digits(w.to)}: shards ${digits(first)} to ${digits(last)}` : plural(job.shards.total, "shard");
  return (
    <Card
      title={title}
      aside={(
        <span className={ui.row}>
          {!whole && <Link to="." search={{ ...search, page: undefined, from: undefined, to: undefined }}>{job.shards.total > singleAtMost ? "All pages" : "All shards"}</Link>}
          {whole && <span className={ui.muted}>each tile is {w.byPage ? (w.per === 1 ? "a page" : `${digits(w.per)} pages`) : "a shard"}: click it to see {w.byPage ? "its shards" : "why it counts"}</span>}
          {!w.byPage && <Colour value={mode as Mode} onChange={(colour) => void navigate({ to: ".", search: { ...search, colour } })} />}
        </span>
      )}
    >
      <Loaded query={map} height={240}>
        {() => (
          <Mosaic
            tiles={tiles}
            sentence={`${percent(job.shards.accepted, job.shards.total)} of ${plural(job.shards.total, "shard")} accepted, ${digits(job.shards.review)} in review, ${digits(job.shards.failed)} failed.`}
            only={search.only}
            onOnly={(only) => void navigate({ to: ".", search: { ...search, only } })}
            name={tileName}
            onOpen={openTile}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Colour({ value, onChange }: { value: Mode; onChange: (mode: Mode | undefined) => void }) {
  return (
    <label className={ui.row}>
      <span className={ui.muted}>Colour</span>
      <select className={ui.input} style={{ width: "auto" }} value={value} onChange={(e) => onChange(e.target.value === "state" ? undefined : (e.target.value as Mode))}>
        {Object.entries(modes).map(([mode, words]) => <option key={mode} value={mode}>{words}</option>)}
      </select>
    </label>
  );
}

/** The states of the tiles of a map. Where it shows something else, what has that is accepted, or runs. */
function counts(map: JobMap, w: Window) {
  if (map.head.mode === "pages") return Array.from({ length: Math.ceil((map.head.to - map.head.from) / w.per) }, (_, i) => pageCounts(map, i * w.per, w.per));
  return Array.from(map.bytes, (code) => shardCounts(map.head.mode === "state" ? code : code === 0 ? 0 : map.head.mode === "age" ? 1 : 4));
}

/** A tile's own colour and its words, in the modes that show no state. */
function colour(map: JobMap, mode: MapMode, i: number, name: (id: string) => string): Pick<Tile, "colour" | "words"> {
  const code = map.bytes[i]!;
  if ((mode === "duration" || mode === "age") && code > 0) {
    const share = Math.min(1, (code - 1) / 80); // four steps for each doubling of milliseconds: 80 are 17 minutes
    return { colour: `hsl(${210 - 190 * share} 70% ${64 - 24 * share}%)`, words: `${mode === "age" ? "out for" : "took"} about ${duration(2 ** ((code - 1) / 4))}` };
  }
  if (mode === "agent" && code > 0) {
    const id = map.head.agents?.[code - 1];
    return { colour: id ? `hsl(${(code * 137.5) % 360} 55% 52%)` : "#888888", words: id ? `answered by ${name(id)}` : "answered by another agent" };
  }
  return {};
}
