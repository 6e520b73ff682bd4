import type { Schemas } from "../api/client";
import { digits, plural } from "../lib/format";
import { visible } from "../ui/bits";
import { Card } from "../ui/panel";
import ui from "../ui/ui.module.css";

/** What became of the shards with known answers that a job brought, as `ostraka job get` says it. */
export function Controls({ job }: { job: Schemas["Job"] }) {
  const c = job.controls;
  if (!c) return null;
  return (
    <Card title="Controls">
      <dl className={ui.facts}>
        <dt>Given</dt><dd>{digits(c.given)} of {digits(c.total)}, in {plural(c.answers, "execution")}</dd>
        <dt>Right</dt><dd>{digits(c.right)}</dd>
        {c.wrong > 0 && <><dt>Answered wrong by somebody</dt><dd style={{ color: "var(--danger)" }}>{digits(c.wrong)}</dd></>}
        {c.void > 0 && <><dt>Void</dt><dd>{digits(c.void)}: owners agree on other answers than the known ones</dd></>}
        {c.unsettled > 0 && <><dt>Found nothing out</dt><dd>{digits(c.unsettled)}</dd></>}
      </dl>
    </Card>
  );
}

interface FlagControl {
  control: number;
  lent_as_shard: number;
  own_shard: boolean;
  input: string;
  known?: string;
  known_sha256: string;
  answers: { agent: string; status: string; output?: string; output_sha256?: string }[];
}

/** The controls that a flag is about: which of the file they are, what was known, and what agents said. */
export function FlagControls({ flag: f, name }: { flag: Schemas["FlagDetail"]; name: (id: string) => string }) {
  const told = (f.detail ?? {}) as { total?: number; items?: FlagControl[] };
  if (f.kind !== "controls" || !told.items?.length) return null;
  const more = Number(told.total ?? 0) - told.items.length;
  return (
    <Card title={f.rule === "void" ? "Controls that are not believed: owners agree on other answers" : "Controls that found nothing out: too few gave a second opinion"} flush>
      <table className={ui.table}>
        <thead><tr><th>Control</th><th>Input</th><th>Known answer</th><th>Given</th></tr></thead>
        <tbody>
          {told.items.map((c) => (
            <tr key={String(c.lent_as_shard)}>
              <td>{c.control ? `No. ${digits(c.control)} of the file` : "–"}<div className={ui.muted}>{c.own_shard ? "shard" : "lent as shard"} {digits(c.lent_as_shard)}</div></td>
              <td className="mono">{visible(c.input)}</td>
              <td className="mono">{visible(c.known ?? `SHA-256 ${c.known_sha256}`)}</td>
              <td>{c.answers.map((a, i) => <div key={i}><span className="mono">{visible(a.status === "ok" ? (a.output ?? `SHA-256 ${a.output_sha256}`) : a.status)}</span> <span className={ui.muted}>by {name(a.agent)}</span></div>)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className={ui.muted}>and {digits(more)} more</p>}
    </Card>
  );
}
