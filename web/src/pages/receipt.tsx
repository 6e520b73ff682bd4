import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, must, ProblemError, type Schemas } from "../api/client";
import { digits, plural } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { checkedAtMost, notProved, verifyReceipt, type Checked } from "../lib/receipt";
import { AsCalls, Id, When } from "../ui/bits";
import { Card, Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { curl, useRights } from "./common";

/** The receipt of a job that has ended: it is asked for, downloaded, and verified in this browser. */
export function ReceiptCard({ project, job }: { project: string; job: Schemas["Job"] }) {
  const path = { project, job: job.id };
  const { role } = useRights();
  const every = useEvery(1000);
  const client = useQueryClient();
  const queryKey = ["receipt", project, job.id];
  const receipt = useQuery({
    queryKey,
    queryFn: async () => {
      try {
        return await must(api.GET("/v1/projects/{project}/jobs/{job}/receipt", { params: { path } }));
      } catch (e) {
        if (e instanceof ProblemError && e.problem.code === "receipt_not_made") return null; // nobody has asked for it
        throw e;
      }
    },
    refetchInterval: (q) => (q.state.data && q.state.data.state !== "made" ? every : false),
  });
  const [error, setError] = useState<unknown>();
  const ask = () => must(api.POST("/v1/projects/{project}/jobs/{job}/receipt", { params: { path } })).then((made) => client.setQueryData(queryKey, made), setError);
  const r = receipt.data;
  const file = `/v1/projects/${project}/jobs/${job.id}/receipt/file?shards=true`;
  const mayAsk = role === "owner" || role === "submitter" || role === "auditor";
  return (
    <Card
      title="Receipt"
      aside={<AsCalls label="Receipt as CLI · curl" cli={`ostraka job receipt ${job.id} > ${job.id}.receipt\nostraka receipt verify ${job.id}.receipt --key "$(cat log.key)"`} curl={`${curl("POST", `/v1/projects/${project}/jobs/${job.id}/receipt`)}\n${curl("GET", file)}`} />}
    >
      {receipt.error && <Trouble error={receipt.error} retry={() => void receipt.refetch()} />}
      {error !== undefined && <Trouble error={error} />}
      <div className={ui.stack}>
        {r === null && <p>A file that says what was executed, by whom and how it was checked, and proves that the project&apos;s log has a record of it. Anybody verifies it without this server.</p>}
        {r && r.state !== "made" && <p role="status">{r.state === "sealing" ? "Its record is being sealed." : `Being made: ${digits(r.done)} of ${plural(r.shards, "shard")}.`}</p>}
        {r?.state === "made" && <p>Made <When at={r.made_at ?? r.asked_at} />, with a line for each of {plural(r.shards, "accepted shard")}. <a href={file} download={`${job.id}.receipt`}>Download it</a></p>}
        {mayAsk && receipt.data !== undefined && (!r || r.state === "made") && <div><button type="button" className={ui.button} onClick={() => void ask()}>{r ? "Make it anew" : "Make the receipt"}</button></div>}
        {r?.state === "made" && <Verify path={path} />}
      </div>
    </Card>
  );
}

function Verify({ path }: { path: { project: string; job: string } }) {
  const [key, setKey] = useState("");
  const [held, setHeld] = useState<{ checked: Checked; keyGiven: boolean }>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setError(undefined);
    setHeld(undefined);
    try {
      const blob = (await must(api.GET("/v1/projects/{project}/jobs/{job}/receipt/file", { params: { path, query: { shards: true } }, parseAs: "blob" }))) as unknown as Blob;
      if (blob.size > checkedAtMost) throw new Error("the receipt is too long for a browser: download it, and run ostraka receipt verify");
      const checked = await verifyReceipt(await blob.text(), key);
      if (checked.statement.job !== path.job) throw new Error("the receipt is that of another job");
      if (checked.statement.project !== path.project) throw new Error("the receipt is that of a job of another project");
      setHeld({ checked, keyGiven: key.trim() !== "" });
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className={ui.stack}
      onSubmit={(e) => {
        e.preventDefault();
        void check();
      }}
    >
      <label className={ui.field}>
        <span>Key of the project&apos;s log</span>
        <input className={ui.input} value={key} onChange={(e) => setKey(e.target.value)} placeholder="ostraka/projects/…" spellCheck={false} autoComplete="off" maxLength={300} />
        <small>As you had it from elsewhere; left out, the one in the receipt is taken.</small>
      </label>
      <div><button type="submit" className={ui.button} disabled={busy}>Verify in this browser</button></div>
      {error !== undefined && <Trouble error={error} />}
      {held && <Held checked={held.checked} keyGiven={held.keyGiven} />}
    </form>
  );
}

function Held({ checked: c, keyGiven }: { checked: Checked; keyGiven: boolean }) {
  return (
    <div role="status" className={ui.stack}>
      <p>
        <strong>The receipt holds:</strong> its statement is record {digits(c.proved.index)} of the {digits(c.proved.size)} whose root <Id value={c.proved.root} /> was signed
        {c.lines > 0 && <>, and its {plural(c.lines, "line")} of shards are those of the root <Id value={c.statement.shards.root} />; the server executed {digits(c.byServer)} of them itself</>}.
      </p>
      <p className={ui.muted}>Not proved:</p>
      <ul className={ui.muted}>{notProved(c, keyGiven).map((what) => <li key={what}>{what}</li>)}</ul>
    </div>
  );
}
