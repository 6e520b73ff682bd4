import { inflate, type TarFile } from "./tar";

/** Reads the files of a zip archive by its directory, which stands at the end: stored or deflated ones, as all programs write them. */
export async function unzip(archive: Uint8Array<ArrayBuffer>, atMost: number): Promise<TarFile[]> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.length);
  let end = archive.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("this is no zip archive");
  const files: TarFile[] = [];
  let left = atMost;
  let at = view.getUint32(end + 16, true);
  for (let n = view.getUint16(end + 10, true); n > 0; n--) {
    if (view.getUint32(at, true) !== 0x02014b50) throw new Error("the directory of the zip archive is damaged");
    const [names, extra, comment] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true), view.getUint16(at + 32, true)];
    const path = new TextDecoder("utf-8", { fatal: true }).decode(archive.subarray(at + 46, at + 46 + names));
    const size = view.getUint32(at + 24, true);
    const unix = view.getUint8(at + 5) === 3 ? view.getUint32(at + 38, true) >>> 16 : 0;
    if (view.getUint16(at + 8, true) & 1) throw new Error(`${path} is encrypted`);
    if ((unix & 0o170000) === 0o120000) throw new Error(`${path} is a link: a bundle holds regular files only`);
    if (!path.endsWith("/")) {
      if ((left -= size) < 0) throw new Error("the files are too large together");
      const bytes = await content(archive, view, view.getUint32(at + 42, true), view.getUint32(at + 20, true), view.getUint16(at + 10, true), path);
      if (bytes.length !== size) throw new Error(`${path} has another length than the archive says`);
      files.push({ path, bytes, executable: (unix & 0o111) !== 0 });
    }
    at += 46 + names + extra + comment;
  }
  return files;
}

async function content(archive: Uint8Array<ArrayBuffer>, view: DataView, at: number, packed: number, method: number, path: string): Promise<Uint8Array<ArrayBuffer>> {
  const from = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  const bytes = archive.subarray(from, from + packed);
  if (method === 0) return bytes;
  if (method === 8) return inflate(new Blob([bytes]), "deflate-raw");
  throw new Error(`${path} is compressed in a way that browsers cannot read`);
}
