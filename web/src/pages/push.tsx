import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";

import { api, must } from "../api/client";
import { readChosen, wrongWith } from "../lib/chosen";
import { bytes, digits, plural } from "../lib/format";
import { tarball, type TarFile } from "../lib/tar";
import { AsCalls, visible } from "../ui/bits";
import { Card, Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";
import { PushModule } from "./push-module";

export function PushPage() {
  const { project } = useParams({ strict: false }) as { project: string };
  const { owner } = useRights();
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Push</h1>
        <AsCalls
          cli={"ostraka function check FOLDER\nostraka function push FOLDER\nostraka module push FILE.wasm --name NAME --kind aggregator"}
          curl={`${curl("POST", `/v1/projects/${project}/functions?repack=true`)} --data-binary @folder.tar.gz\n${curl("POST", `/v1/projects/${project}/modules?name=NAME&kind=aggregator`)} --data-binary @file.wasm`}
        />
      </div>
      {owner ? <><PushFunction project={project} /><PushModule project={project} /></> : <p className={ui.muted}>Owners of the project push functions and modules.</p>}
    </div>
  );
}

/** What was chosen, once it is read. */
interface Chosen {
  files: TarFile[];
  wrong?: string;
}

function PushFunction({ project }: { project: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<Chosen>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const choose = (list: FileList | null) => {
    setError(undefined);
    setChosen(undefined);
    if (!list?.length) return;
    readChosen([...list]).then((files) => setChosen({ files, wrong: wrongWith(files) }), setError);
  };
  const push = async ({ files }: Chosen) => {
    setBusy(true);
    setError(undefined);
    try {
      const made = await must(api.POST("/v1/projects/{project}/functions", {
        params: { path: { project }, query: { repack: true } }, body: (await tarball(files)) as never, bodySerializer: (b) => b as never, headers: { "Content-Type": "application/octet-stream" },
      }));
      await client.invalidateQueries({ queryKey: ["functions", project] });
      await navigate({ to: "/p/$project/functions/$name/v/$version", params: { project, name: made.name, version: String(made.version) } });
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <Card title="A function">
      <div className={ui.stack}>
        <p>A folder with a <code>function.toml</code> and Python, the same as a .zip, .tar or .tar.gz, its files, or one .py file. The server packs them as <code>ostraka function push</code> does: the same files are the same version.</p>
        <div className={ui.row}>
          <label className={ui.field}><span>Folder</span><input type="file" ref={(e) => e?.setAttribute("webkitdirectory", "")} onChange={(e) => choose(e.target.files)} /></label>
          <label className={ui.field}><span>Files or an archive</span><input type="file" multiple onChange={(e) => choose(e.target.files)} /></label>
        </div>
        {chosen && <Files files={chosen.files} />}
        {chosen?.wrong && <p role="alert" style={{ color: "var(--danger)" }}>{chosen.wrong}</p>}
        {error !== undefined && <Trouble error={error} />}
        {chosen && !chosen.wrong && <div><button type="button" className={`${ui.button} ${ui.primary}`} disabled={busy} onClick={() => void push(chosen)}>Push {plural(chosen.files.length, "file")}</button></div>}
      </div>
    </Card>
  );
}

const filesShown = 200;

function Files({ files }: { files: TarFile[] }) {
  return (
    <details open={files.length <= 20}>
      <summary>{plural(files.length, "file")}, {bytes(files.reduce((n, f) => n + f.bytes.length, 0))}</summary>
      <table className={ui.table} aria-label="Files to push">
        <thead><tr><th scope="col">File</th><th scope="col" className={ui.num}>Size</th></tr></thead>
        <tbody>{files.slice(0, filesShown).map((f) => <tr key={f.path}><td className="mono">{visible(f.path)}{f.executable && <span className={ui.muted}> (executable)</span>}</td><td className={ui.num}>{bytes(f.bytes.length)}</td></tr>)}</tbody>
      </table>
      {files.length > filesShown && <p className={ui.muted}>and {digits(files.length - filesShown)} more</p>}
    </details>
  );
}
