import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";

import { api, must, type Schemas } from "../api/client";
import { bytes, digits } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { AsCalls, Id, visible, When } from "../ui/bits";
import { Card, More, Nothing, Trouble } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";
import { curl } from "./common";

const pills = { writing: "running", removing: "running", archived: "accepted", failed: "failed" } as const;

/** What a browser hashes at once; larger files are for the command line. */
const hashedAtMost = 256 << 20;

export function ArchivesPage() {
  const { project } = useParams({ from: "/signed/p/$project/archives" });
  const list = useInfiniteQuery({
    queryKey: ["archives", project],
    queryFn: ({ pageParam }) => must(api.GET("/v1/projects/{project}/archives", { params: { path: { project }, query: { limit: 50, cursor: pageParam || undefined } } })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: useEvery(5000),
  });
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Archives</h1>
        <AsCalls cli={"ostraka archive list\nostraka archive download JOB\nostraka archive verify JOB.json"} curl={curl("GET", `/v1/projects/${project}/archives`)} />
      </div>
      <Card flush>
        {list.error && <Trouble error={list.error} retry={() => void list.refetch()} />}
        {!list.data && !list.error && <div className={ui.skeleton} style={{ height: 160 }} role="status" aria-label="Loading" />}
        {list.data && items.length === 0 && <Nothing title="No job is an archive yet."><p>The shards of a job that has ended can leave the database for files; its results, answer and receipt are read as before.</p><code>ostraka job archive JOB</code></Nothing>}
        {items.length > 0 && (
          <table className={ui.table}>
            <thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col" className={ui.num}>Shards</th><th scope="col">Files</th><th scope="col">Asked</th></tr></thead>
            <tbody>
              {items.map((a) => (
                <tr key={a.job}>
                  <td><Link to="/p/$project/jobs/$job" params={{ project, job: a.job }}>{a.job}</Link></td>
                  <td><Pill as={pills[a.state]}>{a.state}</Pill> {visible(a.error ?? "")}</td>
                  <td className={ui.num}>{digits(a.shards)}</td>
                  <td><ArchiveFiles project={project} archive={a} /></td>
                  <td><When at={a.asked_at} bare />, by {visible(a.asked_by)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <More query={list} shown={items.length} />
      </Card>
    </div>
  );
}

/** The files of an archive: each can be downloaded, and held against its digest here. */
function ArchiveFiles({ project, archive: a }: { project: string; archive: Schemas["JobArchive"] }) {
  if (!a.results || !a.document) return <>–</>;
  return (
    <div className={ui.stack}>
      <File project={project} name={`${a.job}.parquet`} what="shards" file={a.results} />
      <File project={project} name={`${a.job}.json`} what="document" file={a.document} />
    </div>
  );
}

function File({ project, name, what, file }: { project: string; name: string; what: string; file: Schemas["ArchivedFile"] }) {
  const path = `/v1/projects/${project}/objects/${file.digest}`;
  const [found, setFound] = useState<"holds" | "differs">();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const answer = await fetch(path, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await answer.arrayBuffer()));
      setFound([...hash].map((b) => b.toString(16).padStart(2, "0")).join("") === file.digest ? "holds" : "differs");
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={ui.row}>
      <a href={path} download={name}>{what}</a> <span className={ui.muted}>{bytes(file.bytes)}</span> <Id value={file.digest} />
      {file.bytes <= hashedAtMost && <button type="button" className={`${ui.button} ${ui.small}`} disabled={busy} aria-label={`Verify the ${what}`} onClick={() => void check()}>Verify</button>}
      {found && <span role="status"><Pill as={found === "holds" ? "accepted" : "failed"}>{found === "holds" ? "the bytes are those of the digest" : "other bytes than archived"}</Pill></span>}
      {error !== undefined && <Trouble error={error} />}
    </div>
  );
}
