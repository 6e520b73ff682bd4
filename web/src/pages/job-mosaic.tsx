import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useRef } from "react";

import type { Schemas } from "../api/client";
import { mapQuery, pageSize, singleAtMost } from "../api/map";
import { eventsQuery, flagsQuery } from "../api/reads";
import { digits, percent, plural } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { Mosaic } from "../ui/mosaic";
import type { Tile } from "../ui/mosaic-draw";
import { Card, Loaded } from "../ui/panel";
import { states, type Shown } from "../ui/state";
import ui from "../ui/ui.module.css";
import { wrongAnswers } from "./job";

const accepted = states.indexOf("accepted");

/** The job as a picture: its shards, or for a large one its pages, and one of them opened. */
export function JobMosaic({ project, job, ended }: { project: string; job: Schemas["Job"]; ended: boolean }) {
  const search = useSearch({ strict: false }) as { page?: string; only?: Shown };
  const navigate = useNavigate();
  const every = useEvery(1500);
  const large = job.shards.total > singleAtMost;
  const page = search.page !== undefined && /^\d+$/.test(search.page) ? Number(search.page) - 1 : undefined;
  const from = page !== undefined ? page * pageSize : 0;
  const count = page !== undefined ? Math.max(0, Math.min(pageSize, job.shards.total - from)) : job.shards.total;
  const map = useQuery({ ...mapQuery(project, job.id, from, count), enabled: !(large && page === undefined), refetchInterval: ended ? false : every, placeholderData: keepPreviousData, staleTime: ended ? Infinity : 400 });
  const flags = useQuery({ ...flagsQuery(project, { job: job.id }), staleTime: 5000 });
  useQuery(eventsQuery(project, job.id));
  const seen = useRef<{ key: string; codes?: Uint8Array; takenAt: Float64Array }>({ key: "", takenAt: new Float64Array() });

  const tiles = useMemo<Tile[]>(() => {
    const data = map.data;
    if (!data) return [];
    const byPage = large && page === undefined;
    const wrong = new Map<number, number>();
    for (const [, shard] of wrongAnswers(flags.data?.items ?? [])) {
      const at = byPage ? Math.floor(shard / pageSize) : shard - data.from;
      wrong.set(at, (wrong.get(at) ?? 0) + 1);
    }
    // What was accepted when it was last seen and is so no more, was taken back under our eyes.
    const key = `${data.from}:${data.codes.length}`;
    if (seen.current.key !== key) seen.current = { key, takenAt: new Float64Array(data.codes.length) };
    const { codes: before, takenAt } = seen.current;
    const now = Date.now();
    if (before && before !== data.codes) {
      for (let i = 0; i < data.codes.length; i++) if (before[i] === accepted && data.codes[i] !== accepted) takenAt[i] = now;
    }
    seen.current.codes = data.codes;
    const out: Tile[] = [];
    const per = byPage ? pageSize : 1;
    for (let i = 0; i < data.codes.length; i += per) {
      const counts = new Uint16Array(states.length);
      let taken = 0;
      for (let k = i; k < Math.min(i + per, data.codes.length); k++) {
        counts[data.codes[k]!]!++;
        if (takenAt[k]! > taken) taken = takenAt[k]!;
      }
      out.push({ counts, wrong: wrong.get(out.length) ?? 0, takenAt: taken });
    }
    return out;
  }, [map.data, flags.data, large, page]);

  const byPage = large && page === undefined;
  if (byPage) return <Pages total={job.shards.total} />;
  const sentence = `${percent(job.shards.accepted, job.shards.total)} of ${plural(job.shards.total, "shard")} accepted, ${digits(job.shards.review)} in review, ${digits(job.shards.failed)} failed.`;
  return (
    <Card
      title={byPage ? `${plural(tiles.length, "page")} of ${digits(pageSize)} shards` : page !== undefined ? `Page ${page + 1}: shards ${digits(from)} to ${digits(from + count - 1)}` : plural(job.shards.total, "shard")}
      aside={page !== undefined ? <Link to="." search={{ ...search, page: undefined }}>All pages</Link> : <span className={ui.muted}>each tile is {byPage ? "a page: click it to see its shards" : "a shard: click it to see why it counts"}</span>}
    >
      <Loaded query={map} height={240}>
        {() => (
          <Mosaic
            tiles={tiles}
            sentence={sentence}
            only={search.only}
            onOnly={(only) => void navigate({ to: ".", search: { ...search, only } })}
            name={(i) => (byPage ? `Page ${i + 1}` : `Shard ${digits(from + i)}`)}
            onOpen={(i) => {
              if (byPage) void navigate({ to: ".", search: { ...search, page: String(i + 1) } });
              else void navigate({ to: "/p/$project/jobs/$job/shards/$shard", params: { project, job: job.id, shard: String(from + i) } });
            }}
          />
        )}
      </Loaded>
    </Card>
  );
}

const pagesLinked = 1000;

/** The pages of a job that is too large to be asked for shard by shard. */
function Pages({ total }: { total: number }) {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const pages = Math.ceil(total / pageSize);
  return (
    <Card title={`${plural(pages, "page")} of ${digits(pageSize)} shards`}>
      <div className={ui.row}>
        {Array.from({ length: Math.min(pages, pagesLinked) }, (_, i) => (
          <Link key={i} className={`${ui.button} ${ui.small}`} to="." search={{ ...search, page: String(i + 1) }}>{digits(i + 1)}</Link>
        ))}
      </div>
      {pages > pagesLinked && <p className={ui.muted}>Showing {digits(pagesLinked)} of {digits(pages)}: write the number of any other as <code>?page=</code> in the address.</p>}
    </Card>
  );
}
