// Checks the receipt of a job in this browser: that the statement is the one that the project's log has a record of, that the head of the
// log was signed, that the lines of the shards are those that the statement commits to, and that the function's owner has signed it. What it does
// not verify it says.
import { parseJSON } from "../api/json";
import { hex, leaf, node, sha256, signed, verifyRecord, type Proved } from "./proof";

/** How much of a receipt a browser checks, in bytes; longer ones are for the command line. */
export const checkedAtMost = 64 << 20;

interface Statement {
  project: string;
  job: string;
  state: string;
  function: { name: string; version: number; digest: string; signed_by?: string; signature?: string; key?: string };
  shards: { total: number; accepted: number; failed: number; root: string };
  answer?: { count: number; digest: string };
  signed?: { results: number };
  draws?: { commitment: string; secret?: string };
}

/** What was found out about a receipt. */
export interface Checked {
  statement: Statement;
  proved: Proved;
  key: string;
  /** How many lines of shards were checked; none where the file has none. */
  lines: number;
  byServer: number;
  /** Whether the key of the function's owner, which stands in the receipt, has signed the function. */
  ownerSigned: boolean;
  /** How many agents are said to have co-signed the head: no cosignature is verified here. */
  witnesses: number;
}

/** The bytes of a field of an object's text, as they stand there: what was hashed is these, and not what they mean. */
export function rawField(text: string, field: string): string {
  const start = `"${field}":`;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') {
      const end = endOfString(text, i);
      if (depth === 1 && text.startsWith(start, i) && /[{,]/.test(text[i - 1] ?? "")) return text.slice(i + start.length, endOfValue(text, i + start.length));
      i = end - 1;
    } else if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") depth--;
  }
  throw new Error(`this is no receipt: it has no ${field}`);
}

function endOfString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i + 1;
  }
  throw new Error("the receipt is cut off");
}

function endOfValue(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') i = endOfString(text, i) - 1;
    else if (c === "{" || c === "[") depth++;
    else if ((c === "}" || c === "]") && --depth === 0) return i + 1;
  }
  throw new Error("the receipt is cut off");
}

/** The root of a tree whose leaves come one after the other: RFC 6962, with the roots of its complete subtrees alone kept. */
class Tree {
  size = 0;
  private readonly peaks: Uint8Array[] = [];

  async add(bytes: Uint8Array) {
    this.peaks.push(await leaf(bytes));
    for (let n = this.size; n % 2 === 1; n = Math.floor(n / 2)) {
      const right = this.peaks.pop()!;
      this.peaks.push(await node(this.peaks.pop()!, right));
    }
    this.size++;
  }

  async root(): Promise<Uint8Array> {
    let root = this.peaks.at(-1) ?? (await sha256());
    for (let i = this.peaks.length - 2; i >= 0; i--) root = await node(this.peaks[i]!, root);
    return root;
  }
}

/** Whose key it is, and which: a log that began anew has another name, that with the time behind it, and the same key. */
function logOf(key: string): string {
  const [, name, raw] = /^([^+\s]+)\+[0-9a-f]{8}\+([A-Za-z0-9+/=]+)$/.exec(key) ?? [];
  if (!name || !raw) throw new Error("the key is no key of a log: it begins with the log's name, ostraka/projects/…");
  return `${name.replace(/\/\d{8}T\d{6}Z$/, "")}+${raw}`;
}

/** Verifies that the key in the receipt has signed the function; a receipt without such a key says nothing of it. */
async function verifyOwner({ project, function: f }: Statement): Promise<boolean> {
  if (!f.key) return false;
  if (!(await signed(f.key, `ostraka-bundle/1\n${project}\n${f.name}\n${f.digest}\n`, f.signature ?? ""))) {
    throw new Error("the function was not signed by the key that the receipt gives as its owner's");
  }
  return true;
}

/** Verifies a receipt, with the key of the log that one knows, or else with the one that stands in it; throws what is wrong with it. */
export async function verifyReceipt(file: string, key?: string): Promise<Checked> {
  const text = new TextEncoder();
  const [first = "", ...lines] = file.split("\n");
  if (!first.startsWith('{"ostraka":"receipt"')) throw new Error("this is no receipt");
  const raw = rawField(first, "statement");
  const record = rawField(first, "record");
  const wire = parseJSON(first) as { proof: string; key: string; witnesses?: unknown[] };
  const statement = parseJSON(raw) as Statement;
  const said = parseJSON(record) as { action: string; subject: string; detail: { digest?: string } };
  if (said.action !== "job.receipt" || said.subject !== statement.job) throw new Error("the record is not about a receipt of this job");
  if (said.detail.digest !== hex(await sha256(text.encode(raw)))) throw new Error("the statement is not the one that the log has a record of: it was changed");
  const used = key?.trim() || wire.key;
  if (logOf(used) !== logOf(wire.key)) throw new Error("the receipt was signed with another key than the given one, or is of another log");
  const proved = await verifyRecord(record, wire.proof, wire.key);
  if (!`${proved.origin}/`.startsWith(`ostraka/projects/${statement.project}/`)) throw new Error("the record stands in the log of another project");
  const ownerSigned = await verifyOwner(statement);
  const tree = new Tree();
  let last = -1;
  let byServer = 0;
  for (const line of lines) {
    if (!line.startsWith('{"shard":')) continue; // what agents have signed: the command line verifies it
    const shard = parseJSON(line) as { shard: number; server: boolean };
    if (shard.shard <= last || shard.shard >= statement.shards.total) throw new Error(`after shard ${last} comes shard ${shard.shard}`);
    last = shard.shard;
    if (shard.server) byServer++;
    await tree.add(text.encode(line));
  }
  if (tree.size > 0 && (tree.size !== Number(statement.shards.accepted) || hex(await tree.root()) !== statement.shards.root)) {
    throw new Error(`its ${tree.size} lines of shards are not the ${statement.shards.accepted} that the log vouches for`);
  }
  return { statement, proved, key: used, lines: tree.size, byServer, ownerSigned, witnesses: wire.witnesses?.length ?? 0 };
}

/** What a receipt that holds leaves open. */
export function notProved(c: Checked, keyGiven: boolean): string[] {
  const { shards, answer, signed, draws, function: f } = c.statement;
  const open = [
    !keyGiven && "that the project's log has signed it: the key is the receipt's own. Keep the key that the audit log shows, and give it here",
    shards.accepted < shards.total && `anything about ${shards.total - shards.accepted} shards without an accepted result: the answer leaves them out`,
    c.lines === 0 && shards.accepted > 0 && "what each shard gave: the file has no lines of shards",
    c.ownerSigned && `whose key ${f.key?.slice(0, 16)}… has signed the function: the server's word (ostraka receipt verify --owner)`,
    !c.ownerSigned && f.signature && "that the function's owner has signed it: the receipt does not have the key",
    !c.ownerSigned && !f.signature && "who made the function: nobody has signed it",
    c.witnesses > 0 && `that ${c.witnesses === 1 ? "an agent has" : `${c.witnesses} agents have`} co-signed the head of the log: ostraka receipt verify checks each cosignature`,
    draws && "by which secret audits were drawn, that its digest was recorded when the job was submitted, and that they were drawn by it: ostraka receipt verify checks it",
    signed && "what agents have signed: ostraka receipt verify checks each signature",
    answer && "that the answer follows from the results: it was not folded again here (ostraka receipt verify --results)",
    shards.accepted > c.byServer && "that the outputs are right: none was executed again here (ostraka receipt verify --reexecute)",
    "that agents are who the server says they are: the server's word",
    "that it is the newest receipt of the job: one that was aggregated again has another",
    "that nobody was shown another log: compare checkpoints with others",
  ];
  return open.filter((what): what is string => typeof what === "string");
}
