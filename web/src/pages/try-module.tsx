import { useState } from "react";

import { api, must, type Schemas } from "../api/client";
import { Json, Text } from "../ui/bits";
import { Card, Trouble } from "../ui/panel";
import { Pill } from "../ui/state";
import ui from "../ui/ui.module.css";

/** Runs a module on records that one writes; the server does it within its limits, and keeps nothing. */
export function TryModule({ project, name }: { project: string; name: string }) {
  const [records, setRecords] = useState("");
  const [params, setParams] = useState("");
  const [report, setReport] = useState<Schemas["Report"]>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    setReport(undefined);
    try {
      setReport(await must(api.POST("/v1/projects/{project}/modules/{name}/test-run", {
        params: { path: { project, name }, query: { params: params.trim() || undefined } }, body: `${records.trim()}\n` as never, bodySerializer: (b) => b as never, headers: { "Content-Type": "application/x-ndjson" },
      })));
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title="Try it">
      <form
        className={ui.stack}
        onSubmit={(e) => {
          e.preventDefault();
          void run();
        }}
      >
        <label className={ui.field}><span>Records</span><textarea className={ui.input} rows={6} value={records} onChange={(e) => setRecords(e.target.value)} required spellCheck={false} /><small>One JSON value a line, as its kind gets them. It runs on them as in a job, again, and cut in other ways.</small></label>
        <label className={ui.field}><span>Parameters</span><input className={ui.input} value={params} onChange={(e) => setParams(e.target.value)} spellCheck={false} maxLength={65536} /><small>A JSON object; left out, the first example of its schema.</small></label>
        <div><button type="submit" className={ui.button} disabled={busy}>Run the trial</button></div>
        {error !== undefined && <Trouble error={error} />}
        {report && (
          <div role="status" className={ui.stack}>
            <p><Pill as={report.error || report.findings.length > 0 ? "failed" : "accepted"}>{report.error ? "it failed" : report.findings.length > 0 ? "it does not keep the rules" : "it holds"}</Pill></p>
            {report.error && <Json value={report.error} label="error" />}
            {report.findings.length > 0 && <Json value={report.findings} label="findings" />}
            {report.output.length > 0 && <Text text={report.output.join("\n")} label="output" />}
            <details><summary className={ui.muted}>What it took</summary><Json value={report.stats} label="figures" /></details>
          </div>
        )}
      </form>
    </Card>
  );
}
