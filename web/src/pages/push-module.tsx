import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { api, must } from "../api/client";
import { plural } from "../lib/format";
import { visible } from "../ui/bits";
import { Card, Trouble } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";

const kinds = ["aggregator", "heuristic", "planner", "validator"] as const;

/** All that a module may import: the server refuses anything else. */
const wasi = "wasi_snapshot_preview1";

interface Looked {
  imports: WebAssembly.ModuleImportDescriptor[];
  exports: WebAssembly.ModuleExportDescriptor[];
}

/** What a module imports and exports; a worker without network compiles it, and runs nothing. */
function look(file: ArrayBuffer): Promise<Looked> {
  const worker = new Worker(new URL("../lib/wasm-worker.ts", import.meta.url), { type: "module" });
  return new Promise<Looked>((done, fail) => {
    worker.onmessage = ({ data }: MessageEvent<Looked & { error?: string }>) => (data.error !== undefined ? fail(new Error(data.error)) : done(data));
    worker.onerror = (e) => fail(new Error(e.message || "this browser cannot look into the module"));
    worker.postMessage(file);
  }).finally(() => worker.terminate());
}

/** Pushes a WASM module, once one has seen what it asks for. */
export function PushModule({ project }: { project: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<(typeof kinds)[number]>("aggregator");
  const [file, setFile] = useState<File>();
  const [looked, setLooked] = useState<Looked>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    setLooked(undefined);
    setError(undefined);
    if (!chosen) return;
    if (!name) setName(chosen.name.replace(/\.wasm$/, "").toLowerCase().replace(/[^a-z0-9-]+/g, "-"));
    void chosen.arrayBuffer().then(look).then(setLooked, setError);
  };
  const push = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const made = await must(api.POST("/v1/projects/{project}/modules", {
        params: { path: { project }, query: { name, kind } }, body: file as never, bodySerializer: (b) => b as never, headers: { "Content-Type": "application/wasm" },
      }));
      await client.invalidateQueries({ queryKey: ["modules", project] });
      await navigate({ to: "/p/$project/modules/$name", params: { project, name: made.name } });
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  const foreign = looked?.imports.filter((i) => i.module !== wasi) ?? [];
  return (
    <Card title="A module">
      <form
        className={ui.stack}
        onSubmit={(e) => {
          e.preventDefault();
          void push();
        }}
      >
        <p>WebAssembly that speaks <code>ostraka-wasm/1</code> over WASI preview 1: it folds results, scores, plans or compares. What it imports is shown before it is sent; on its page it is tried.</p>
        <div className={ui.row}>
          <label className={ui.field}><span>File</span><input type="file" accept=".wasm,application/wasm" required onChange={(e) => choose(e.target.files?.[0])} /></label>
          <label className={ui.field}><span>Name</span><input className={ui.input} value={name} onChange={(e) => setName(e.target.value)} required pattern="[a-z][a-z0-9\-]{0,62}" /></label>
          <label className={ui.field}><span>Kind</span><select className={ui.input} value={kind} onChange={(e) => setKind(e.target.value as typeof kind)}>{kinds.map((k) => <option key={k}>{k}</option>)}</select></label>
        </div>
        {looked && (
          <dl className={ui.facts}>
            <dt>Imports</dt>
            <dd>{looked.imports.length === 0 ? "nothing" : looked.imports.map((i) => <div key={`${i.module} ${i.name}`} className="mono">{i.module !== wasi && <Pill as="failed">refused</Pill>} {visible(`${i.module}.${i.name}`)}</div>)}</dd>
            <dt>Exports</dt><dd className="mono">{visible(looked.exports.map((e) => e.name).join(", "))}</dd>
          </dl>
        )}
        {foreign.length > 0 && <p role="alert" style={{ color: "var(--danger)" }}>{plural(foreign.length, "import")} of something else than {wasi}: the server refuses the module.</p>}
        {error !== undefined && <Trouble error={error} />}
        <div><button type="submit" className={`${ui.button} ${ui.primary}`} disabled={busy || !looked || foreign.length > 0}>Push the module</button></div>
      </form>
    </Card>
  );
}
