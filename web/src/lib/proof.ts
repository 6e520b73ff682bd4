// Checks in this browser that a record of the audit log is in the log whose head was signed: RFC 6962 hashes, a C2SP tlog-proof around a
// C2SP checkpoint, and an Ed25519 signature. Nothing is asked of the server for it but the record and its proof.

/** What a proof that holds says. */
export interface Proved {
  index: bigint;
  size: bigint;
  origin: string;
  root: string;
}

const text = new TextEncoder();

export function decode(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

const encode = (b: Uint8Array) => btoa(String.fromCharCode(...b));

/** Whether an Ed25519 key has signed a text; the key and the signature are in hexadecimal. */
export async function signed(key: string, said: string, signature: string): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(key) || !/^[0-9a-f]{128}$/.test(signature)) return false;
  const verifier = await crypto.subtle.importKey("raw", unhex(key), "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", verifier, unhex(signature), text.encode(said));
}

const unhex = (digits: string) => Uint8Array.from(digits.match(/../g) ?? [], (byte) => parseInt(byte, 16));

export async function sha256(...parts: Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", all));
}

export const hex = (b: Uint8Array) => [...b].map((x) => x.toString(16).padStart(2, "0")).join("");

export const leaf = (record: Uint8Array) => sha256(Uint8Array.of(0), record);
export const node = (left: Uint8Array, right: Uint8Array) => sha256(Uint8Array.of(1), left, right);

/** The root that a record's hash and the hashes beside its way up make: RFC 9162, 2.1.3.2. */
export async function rootOf(record: Uint8Array, index: bigint, size: bigint, hashes: Uint8Array[]): Promise<Uint8Array> {
  if (index >= size) throw new Error(`the proof is about record ${index} of a log that has ${size}`);
  let fn = index;
  let sn = size - 1n;
  let root: Uint8Array = await leaf(record);
  for (const h of hashes) {
    if (sn === 0n) throw new Error("the proof has more hashes than the tree has levels");
    if (fn % 2n === 1n || fn === sn) {
      root = await node(h, root);
      while (fn % 2n === 0n && fn !== 0n) {
        fn /= 2n;
        sn /= 2n;
      }
    } else {
      root = await node(root, h);
    }
    fn /= 2n;
    sn /= 2n;
  }
  if (sn !== 0n) throw new Error("the proof has fewer hashes than the tree has levels");
  return root;
}

/** The key of a log as text: NAME+HASH+BASE64, where the first byte of what follows is 1 for Ed25519. */
function parseKey(key: string): { name: string; id: string; raw: Uint8Array<ArrayBuffer> } {
  const [, name, id, rest] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(key) ?? [];
  const bytes = rest ? decode(rest) : new Uint8Array();
  if (!name || !id || bytes.length !== 33 || bytes[0] !== 1) throw new Error("the key is no key of a log");
  return { name, id, raw: bytes.slice(1) };
}

/** Verifies that the head was signed with the key, and returns what it says. */
async function open(checkpoint: string, key: string): Promise<{ origin: string; size: bigint; root: string }> {
  const { name, id, raw } = parseKey(key);
  const [, said, signatures] = /^([^]*?\n)\n((?:\u2014 .*\n)+)$/.exec(checkpoint) ?? [];
  const [, origin, size, root] = /^(.+)\n(0|[1-9]\d*)\n([A-Za-z0-9+/=]{44})\n$/.exec(said ?? "") ?? [];
  if (said === undefined || signatures === undefined || !origin || !size || !root) throw new Error("the head of the log is no checkpoint");
  if (origin !== name) throw new Error("the key is that of another log");
  const verifier = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  for (const line of signatures.trimEnd().split("\n")) {
    const [, who, value] = /^\u2014 (\S+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
    if (who !== name || !value) continue;
    const bytes = decode(value);
    const hint = hex(bytes.slice(0, 4));
    if (hint === id && (await crypto.subtle.verify("Ed25519", verifier, bytes.slice(4), text.encode(said)))) return { origin, size: BigInt(size), root };
  }
  throw new Error("the head of the log is not signed with this key");
}

/** Verifies the proof of a record; throws what is wrong with it. */
export async function verifyRecord(record: string, proof: string, key: string): Promise<Proved> {
  if (!globalThis.crypto?.subtle) throw new Error("browsers do this over https or on the same machine only");
  const [, index, lines, checkpoint] = /^c2sp\.org\/tlog-proof@v1\nindex (0|[1-9]\d*)\n((?:[A-Za-z0-9+/=]{44}\n)*)\n([^]*)$/.exec(proof) ?? [];
  if (index === undefined || lines === undefined || checkpoint === undefined) throw new Error("this is no tlog-proof");
  const head = await open(checkpoint, key);
  const hashes = lines.split("\n").filter(Boolean).map(decode);
  const root = await rootOf(text.encode(record), BigInt(index), head.size, hashes);
  if (encode(root) !== head.root) throw new Error(`the record is not number ${index} of the log`);
  return { index: BigInt(index), size: head.size, origin: head.origin, root: head.root };
}
