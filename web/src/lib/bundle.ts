/** A file of a bundle. */
export interface BundleFile {
  path: string;
  bytes: Uint8Array;
  text: string;
  /** Whether it is no text: what cannot be decoded is the same sign in every file. */
  binary: boolean;
}

const unpackedAtMost = 16 * 1024 * 1024; // bytes; what one looks at in a browser is source text

/** Unpacks a bundle (tar, gzip) in the browser, to be looked at and not run. */
export async function unpack(archive: Blob): Promise<BundleFile[]> {
  const bytes = new Uint8Array(await new Response(archive.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  if (bytes.length > unpackedAtMost) throw new Error("the bundle is too large to be shown here");
  const text = new TextDecoder();
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const fileOf = (path: string, body: Uint8Array): BundleFile => {
    try {
      const said = strict.decode(body);
      return { path, bytes: body, text: said, binary: said.includes("\0") };
    } catch {
      return { path, bytes: body, text: text.decode(body), binary: true };
    }
  };
  const word = (from: number, length: number) => text.decode(bytes.subarray(from, from + length)).replace(/\0.*$/s, "");
  const files: BundleFile[] = [];
  for (let at = 0, longName = ""; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const size = parseInt(word(at + 124, 12).trim() || "0", 8);
    const type = String.fromCharCode(bytes[at + 156]!);
    const body = bytes.subarray(at + 512, at + 512 + size);
    if (type === "L" || type === "x") {
      const said = text.decode(body);
      longName = type === "L" ? said.replace(/\0.*$/s, "") : (/ path=([^\n]*)\n/.exec(said)?.[1] ?? longName);
    } else {
      const prefix = word(at + 345, 155);
      if (type === "0" || type === "\0") files.push(fileOf(longName || (prefix ? `${prefix}/` : "") + word(at, 100), body));
      longName = "";
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files.sort((a, b) => a.path.localeCompare(b.path));
}
