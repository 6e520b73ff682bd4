import { inflate, untar, type TarFile } from "./tar";

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
  const bytes = await inflate(archive, "gzip");
  if (bytes.length > unpackedAtMost) throw new Error("the bundle is too large to be shown here");
  const text = new TextDecoder();
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const fileOf = ({ path, bytes: body }: TarFile): BundleFile => {
    try {
      const said = strict.decode(body);
      return { path, bytes: body, text: said, binary: said.includes("\0") };
    } catch {
      return { path, bytes: body, text: text.decode(body), binary: true };
    }
  };
  return untar(bytes).map(fileOf).sort((a, b) => a.path.localeCompare(b.path));
}
