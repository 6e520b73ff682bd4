/** A line of a comparison: of both, only of the old text, or only of the new one. */
export interface DiffLine {
  kind: "same" | "old" | "new";
  text: string;
}

const cellsAtMost = 4_000_000; // of the table that finds the longest common part: a few thousand changed lines

/** Compares texts line by line. Where more was changed than can be matched, all of that part is old, then new. */
export function diffLines(old: string, now: string): DiffLine[] {
  const a = old.split("\n");
  const b = now.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [...a.slice(0, head).map(same), ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)), ...a.slice(a.length - tail).map(same)];
}

function middle(a: string[], b: string[]): DiffLine[] {
  const olds = (lines: string[]) => lines.map((text): DiffLine => ({ kind: "old", text }));
  const news = (lines: string[]) => lines.map((text): DiffLine => ({ kind: "new", text }));
  if (a.length * b.length > cellsAtMost) return [...olds(a), ...news(b)];
  const wide = b.length + 1;
  const common = new Uint32Array((a.length + 1) * wide); // how many lines what follows has in common
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) common[i * wide + j] = a[i] === b[j] ? common[(i + 1) * wide + j + 1]! + 1 : Math.max(common[(i + 1) * wide + j]!, common[i * wide + j + 1]!);
  }
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      out.push({ kind: "same", text: a[i++]! });
      j++;
    } else if (common[(i + 1) * wide + j]! >= common[i * wide + j + 1]!) out.push({ kind: "old", text: a[i++]! });
    else out.push({ kind: "new", text: b[j++]! });
  }
  return [...out, ...olds(a.slice(i)), ...news(b.slice(j))];
}

const around = 3; // lines of both that are shown about a change

/** Leaves out what is the same far from any change; null stands where lines are left out. */
export function changesOf(lines: DiffLine[]): (DiffLine | null)[] {
  const near = new Set<number>();
  lines.forEach((l, i) => {
    if (l.kind !== "same") for (let k = i - around; k <= i + around; k++) near.add(k);
  });
  const out: (DiffLine | null)[] = [];
  lines.forEach((l, i) => {
    if (near.has(i)) out.push(l);
    else if (out.length === 0 || out.at(-1) !== null) out.push(null);
  });
  return out;
}
