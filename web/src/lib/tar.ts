/** A file of a tar or zip archive. */
export interface TarFile {
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
  executable?: boolean;
}

const block = 512;
const text = new TextEncoder();

/** Expands what was compressed. */
export async function inflate(packed: Blob, format: "gzip" | "deflate-raw"): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(packed.stream().pipeThrough(new DecompressionStream(format))).arrayBuffer());
}

/** Reads the regular files of a tar: ustar, with the long names of GNU and of pax. */
export function untar(bytes: Uint8Array<ArrayBuffer>): TarFile[] {
  const decoder = new TextDecoder();
  const word = (from: number, length: number) => decoder.decode(bytes.subarray(from, from + length)).replace(/\0.*$/s, "");
  const files: TarFile[] = [];
  for (let at = 0, longName = ""; at + block <= bytes.length && bytes[at] !== 0; ) {
    const size = parseInt(word(at + 124, 12).trim() || "0", 8);
    const type = String.fromCharCode(bytes[at + 156]!);
    const body = bytes.subarray(at + block, at + block + size);
    if (type === "L" || type === "x") {
      const said = decoder.decode(body);
      longName = type === "L" ? said.replace(/\0.*$/s, "") : (/ path=([^\n]*)\n/.exec(said)?.[1] ?? longName);
    } else {
      const prefix = word(at + 345, 155);
      const mode = parseInt(word(at + 100, 8).trim() || "0", 8);
      if (type === "0" || type === "\0") files.push({ path: longName || (prefix ? `${prefix}/` : "") + word(at, 100), bytes: body, executable: (mode & 0o111) !== 0 });
      longName = "";
    }
    at += block + Math.ceil(size / block) * block;
  }
  return files;
}

function header(name: string, size: number, type: string, mode: number): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(block);
  const put = (at: number, value: string) => head.set(text.encode(value), at);
  head.set(text.encode(name).subarray(0, 100), 0);
  put(100, `${mode.toString(8).padStart(7, "0")}\0`);
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`);
  put(136, "00000000000\0");
  put(148, "        ");
  put(156, type);
  put(257, "ustar\0");
  put(263, "00");
  put(148, `${head.reduce((sum, b) => sum + b, 0).toString(8).padStart(6, "0")}\0 `);
  return head;
}

/** The record of pax that gives a file its whole name: its own length stands in front. */
function longName(path: string): Uint8Array<ArrayBuffer> {
  const rest = text.encode(` path=${path}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  const record = new Uint8Array(length);
  record.set(text.encode(String(length)));
  record.set(rest, length - rest.length);
  return record;
}

/** Packs files into a gzipped tar. The server packs them anew, so that no byte depends on this browser. */
export async function tarball(files: TarFile[]): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const add = (name: string, bytes: Uint8Array<ArrayBuffer>, type: string, mode: number) =>
    parts.push(header(name, bytes.length, type, mode), bytes, new Uint8Array((block - (bytes.length % block)) % block));
  for (const f of files) {
    if (text.encode(f.path).length > 100) add("long name", longName(f.path), "x", 0o644);
    add(f.path, f.bytes, "0", f.executable ? 0o755 : 0o644);
  }
  parts.push(new Uint8Array(2 * block));
  return new Response(new Blob(parts).stream().pipeThrough(new CompressionStream("gzip"))).blob();
}
