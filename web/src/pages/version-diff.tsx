import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import css from "./functions.module.css";
import { api, must } from "../api/client";
import type { BundleFile } from "../lib/bundle";
import { changesOf, diffLines } from "../lib/diff";
import { plural } from "../lib/format";
import { visible } from "../ui/bits";
import { Card, Loaded } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { bundleQuery } from "./common";

/** What a version changed against another one, file by file. */
export function VersionDiff({ project, name, version, digest, against }: { project: string; name: string; version: number; digest: string; against: number }) {
  const other = useQuery({
    queryKey: ["version", project, name, against],
    queryFn: () => must(api.GET("/v1/projects/{project}/functions/{name}/versions/{version}", { params: { path: { project, name, version: against } } })),
  });
  const old = useQuery({ ...bundleQuery(project, other.data?.digest ?? ""), enabled: !!other.data });
  const now = useQuery(bundleQuery(project, digest));
  return (
    <Card title={`What version ${version} changed against version ${against}`} aside={<Link to="." search={{}}>Show the code</Link>}>
      <Loaded query={other}>
        {() => <Loaded query={old}>{(a) => <Loaded query={now}>{(b) => <Files old={a} now={b} />}</Loaded>}</Loaded>}
      </Loaded>
    </Card>
  );
}

function Files({ old, now }: { old: BundleFile[]; now: BundleFile[] }) {
  const paths = [...new Set([...old, ...now].map((f) => f.path))].sort();
  const find = (files: BundleFile[], path: string) => files.find((f) => f.path === path);
  const changed = paths.filter((p) => !sameBytes(find(old, p)?.bytes, find(now, p)?.bytes));
  if (changed.length === 0) return <p>The files are the same.</p>;
  return (
    <div className={ui.stack}>
      {changed.map((path) => {
        const before = find(old, path);
        const after = find(now, path);
        return (
          <section key={path} aria-label={`Changes of ${visible(path)}`}>
            <h3>{visible(path)} <span className={ui.muted}>{before === undefined ? "new" : after === undefined ? "removed" : ""}</span></h3>
            {before?.binary || after?.binary ? <p>{sizeOf(before)} before, {sizeOf(after)} now</p> : <Changes before={before?.text ?? ""} after={after?.text ?? ""} />}
          </section>
        );
      })}
    </div>
  );
}

const sizeOf = (f?: BundleFile) => (f ? `${f.binary ? "binary" : "text"}, ${plural(f.bytes.length, "byte")}` : "no file");

const sameBytes = (a?: Uint8Array, b?: Uint8Array) => a?.length === b?.length && (!a || !b || a.every((byte, i) => byte === b[i]));

function Changes({ before, after }: { before: string; after: string }) {
  return (
    <pre className={css.changes} tabIndex={0}>
      {changesOf(diffLines(before, after)).map((l, i) => (l === null ? <span key={i} className={ui.muted}>⋯{"\n"}</span> : l.kind === "same" ? <span key={i}>{`  ${visible(l.text)}\n`}</span> : l.kind === "old" ? <del key={i}>{`- ${visible(l.text)}\n`}</del> : <ins key={i}>{`+ ${visible(l.text)}\n`}</ins>))}
    </pre>
  );
}
