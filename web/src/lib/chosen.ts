// What somebody has chosen to push as a function: a folder, files, one .py file, or an archive of any of these, as the files of a bundle.
import { inflate, untar, type TarFile } from "./tar";
import { unzip } from "./zip";

/** What a bundle may hold, as the server has it. */
export const limits = { files: 2000, unpacked: 64 << 20 } as const;

/** What belongs to tools, and not to a function: `ostraka function push` leaves it out, too. */
const skipped = new Set([".git", ".hg", ".svn", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store", "__pycache__"]);

const kept = (path: string) => !path.endsWith(".pyc") && !path.split("/").some((part) => skipped.has(part));

const bytesOf = async (file: File) => new Uint8Array(await file.arrayBuffer());

/** The files that were chosen, with paths as they stand in the bundle. */
export async function readChosen(chosen: File[]): Promise<TarFile[]> {
  const total = chosen.reduce((n, f) => n + f.size, 0);
  if (total > limits.unpacked) throw new Error("the files are too large together: a bundle holds 64 MiB");
  const [first] = chosen;
  if (chosen.length === 1 && first && !first.webkitRelativePath) {
    if (/\.zip$/i.test(first.name)) return atRoot(await unzip(await bytesOf(first), limits.unpacked));
    if (/\.(tgz|tar\.gz)$/i.test(first.name)) return atRoot(untar(await inflate(first, "gzip")));
    if (/\.tar$/i.test(first.name)) return atRoot(untar(await bytesOf(first)));
    if (/\.py$/.test(first.name)) return oneFile(first.name, await bytesOf(first));
  }
  const files = chosen.filter((f) => kept(f.webkitRelativePath || f.name)).slice(0, limits.files + 1);
  return atRoot(await Promise.all(files.map(async (f) => ({ path: f.webkitRelativePath || f.name, bytes: await bytesOf(f) }))));
}

/** Takes away the folder in which all files stand, where function.toml is not beside it. */
function atRoot(all: TarFile[]): TarFile[] {
  let files = all.map((f) => ({ ...f, path: f.path.replace(/^(\.\/)+/, "") })).filter((f) => kept(f.path));
  const folder = files[0]?.path.split("/")[0];
  if (folder && !files.some((f) => f.path === "function.toml") && files.every((f) => f.path.startsWith(`${folder}/`))) {
    files = files.map((f) => ({ ...f, path: f.path.slice(folder.length + 1) }));
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A function of one .py file, named after it, as the command line makes it. */
function oneFile(name: string, bytes: Uint8Array<ArrayBuffer>): TarFile[] {
  const stem = name.replace(/\.py$/, "");
  const manifest = `name = "${stem.replaceAll("_", "-").toLowerCase()}"\nentrypoint = "${stem}:handler"\n`;
  if (!/^[A-Za-z_]\w*$/.test(stem)) throw new Error(`the file name ${name} gives no function name: use letters, digits and _, or a folder with function.toml`);
  return [{ path: "function.toml", bytes: new TextEncoder().encode(manifest) }, { path: name, bytes }];
}

/** What is wrong with the files before anything is sent; the server looks closer. */
export function wrongWith(files: TarFile[]): string | undefined {
  if (files.length > limits.files) return `More than ${limits.files} files: leave out what the function does not import.`;
  if (files.reduce((n, f) => n + f.bytes.length, 0) > limits.unpacked) return "The files hold more than 64 MiB together: pass data as input.";
  if (!files.some((f) => f.path === "function.toml")) return 'There is no function.toml: add one, at least with a line such as name = "my-function".';
  return undefined;
}
