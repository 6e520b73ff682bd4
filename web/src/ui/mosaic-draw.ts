import { glyphs, states, type Shown } from "./state";

/** What a tile of the mosaic stands for. */
export interface Tile {
  /** How many of its shards are in each state, in the order of `states`. A tile of one shard has a single 1. */
  counts: ArrayLike<number>;
  /** How many of its results were proven wrong. */
  wrong: number;
  /** When results of it were taken back while this page looked on, in ms; 0 means never. */
  takenAt: number;
  /** What an accepted result still waits for: audits of its agent. */
  provisional?: boolean;
  /** Its colour where it shows something else than a state, and that in words. */
  colour?: string;
  words?: string;
}

/** Where tiles stand: blocks of 32 x 32, side by side. */
export interface Layout {
  size: number; // of a tile with its gap
  block: number; // tiles across a block
  rows: number; // tiles down a block
  blocks: number; // blocks across
  width: number;
  height: number;
  gap: number;
}

const gapOfBlocks = 14;
const biggest = 30;

/** Lays n tiles out: in one block, as large as they fit, or in blocks of 32 x 32. */
export function layout(n: number, width: number): Layout {
  const gap = 2;
  if (n <= 1024) {
    const across = n <= 64 ? Math.min(n, 16) : 32;
    const most = Math.max(4, Math.floor(width / across));
    // A job of few shards fills the width instead of a corner.
    const columns = n > 64 && most > biggest ? Math.ceil(width / biggest) : across;
    const size = Math.min(n <= 64 ? 44 : biggest, Math.max(4, Math.floor(width / columns)));
    const rows = Math.ceil(n / columns);
    return { size, block: columns, rows, blocks: 1, width, height: rows * size, gap: size > 12 ? gap : 1 };
  }
  const blocks = Math.max(1, Math.min(Math.ceil(n / 1024), Math.floor(width / (32 * 8 + gapOfBlocks))));
  const size = Math.max(3, Math.floor((width - gapOfBlocks * (blocks - 1)) / (32 * blocks)));
  const down = Math.ceil(n / 1024 / blocks);
  return { size, block: 32, rows: 32, blocks, width, height: down * 32 * size + (down - 1) * gapOfBlocks, gap: size > 12 ? gap : 1 };
}

export function place(l: Layout, i: number): { x: number; y: number } {
  const per = l.block * l.rows;
  const block = l.blocks === 1 && l.rows !== 32 ? 0 : Math.floor(i / per);
  const within = i - block * per;
  return {
    x: (block % l.blocks) * (l.block * l.size + gapOfBlocks) + (within % l.block) * l.size,
    y: Math.floor(block / l.blocks) * (l.rows * l.size + gapOfBlocks) + Math.floor(within / l.block) * l.size,
  };
}

/** The tile under a point; -1 where there is none. */
export function at(l: Layout, n: number, x: number, y: number): number {
  const w = l.block * l.size + (l.blocks > 1 ? gapOfBlocks : 0);
  const h = l.rows * l.size + gapOfBlocks;
  const bx = Math.floor(x / w);
  const by = l.blocks === 1 && l.rows !== 32 ? 0 : Math.floor(y / h);
  const tx = Math.floor((x - bx * w) / l.size);
  const ty = Math.floor((y - by * h) / l.size);
  if (bx >= l.blocks || tx < 0 || tx >= l.block || ty < 0 || ty >= l.rows) return -1;
  const i = (by * l.blocks + bx) * l.block * l.rows + ty * l.block + tx;
  return i < n ? i : -1;
}

export type Colours = Record<Shown | "border" | "text" | "lie" | "surface", string>;

export function coloursOf(element: Element): Colours {
  const probe = getComputedStyle(element);
  const get = (name: string) => {
    // light-dark() stays unresolved in a custom property: a colour that uses it is not.
    const e = document.createElement("i");
    e.style.color = `var(${name})`;
    element.appendChild(e);
    const colour = getComputedStyle(e).color;
    e.remove();
    return colour || probe.color;
  };
  const all = Object.fromEntries(states.map((s) => [s, get(`--s-${s}`)])) as Record<Shown, string>;
  return { ...all, border: get("--s-border"), text: get("--text"), lie: get("--s-failed"), surface: get("--surface") };
}

const flashFor = 2200;

/** Draws the tiles. Returns whether something still moves, so that another frame is wanted. */
export function draw(ctx: CanvasRenderingContext2D, l: Layout, tiles: Tile[], colours: Colours, cursor: number, only: Shown | undefined, now: number, still: boolean): boolean {
  const scale = ctx.canvas.width / l.width;
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.clearRect(0, 0, l.width, l.height);
  const side = l.size - l.gap;
  const dark = /^rgb\((\d+)/.exec(colours.text) ? Number(/^rgb\((\d+)/.exec(colours.text)![1]) > 128 : false;
  let moves = false;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 1;
  for (let i = 0; i < tiles.length; i++) {
    const tile = tiles[i]!;
    const { x, y } = place(l, i);
    let total = 0;
    let most: Shown = "waiting";
    let count = 0;
    for (let s = 0; s < states.length; s++) {
      const c = tile.counts[s]!;
      total += c;
      if (c > count) {
        count = c;
        most = states[s]!;
      }
    }
    const dim = only !== undefined && !tile.counts[states.indexOf(only)];
    ctx.globalAlpha = dim ? 0.18 : 1;
    if (total <= 1) {
      ctx.fillStyle = tile.colour ?? colours[most];
      ctx.fillRect(x, y, side, side);
      if (tile.provisional && most === "accepted" && side >= 8) {
        ctx.fillStyle = colours.surface; // a corner is open: the result is accepted, and not yet final
        ctx.beginPath();
        ctx.moveTo(x + side, y);
        ctx.lineTo(x + side - side * 0.38, y);
        ctx.lineTo(x + side, y + side * 0.38);
        ctx.fill();
      }
    } else {
      let top = y + side;
      for (const s of ["accepted", "cancelled", "failed", "review", "voting", "running", "waiting"] as const) {
        const h = (side * tile.counts[states.indexOf(s)]!) / total;
        ctx.fillStyle = colours[s];
        ctx.fillRect(x, top - h, side, h);
        top -= h;
      }
    }
    if (side >= 5 && most !== "accepted") {
      ctx.strokeStyle = colours.border;
      ctx.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    }
    const worst = tile.counts[5] ? colours.failed : tile.counts[4] ? colours.review : undefined;
    if (total > 1 && worst) {
      ctx.strokeStyle = worst;
      ctx.lineWidth = Math.min(3, Math.max(1, side / 6));
      ctx.strokeRect(x + 1, y + 1, side - 2, side - 2);
      ctx.lineWidth = 1;
    }
    if (total <= 1 && !tile.colour && side >= 14 && most !== "waiting") {
      const glyph = glyphs[most];
      ctx.fillStyle = most === "accepted" || most === "review" || most === "failed" ? "#fff" : most === "cancelled" ? (dark ? "#111" : "#fff") : "#101418";
      ctx.globalAlpha *= most === "accepted" ? 0.75 : 1;
      ctx.font = `${Math.round(side * 0.5)}px sans-serif`;
      ctx.fillText(glyph, x + side / 2, y + side / 2 + 0.5);
      ctx.globalAlpha = dim ? 0.18 : 1;
    }
    if (tile.wrong > 0) lie(ctx, x, y, side, colours);
    const age = now - tile.takenAt;
    if (tile.takenAt > 0 && age < flashFor) {
      moves = true;
      const t = still ? 0.4 : age / flashFor;
      ctx.globalAlpha = 1 - t;
      ctx.strokeStyle = colours.lie;
      ctx.lineWidth = 3;
      const out = still ? 1 : 1 + t * Math.min(10, side / 2);
      ctx.strokeRect(x - out, y - out, side + 2 * out, side + 2 * out);
      ctx.lineWidth = 1;
    }
    ctx.globalAlpha = 1;
  }
  if (cursor >= 0 && cursor < tiles.length) {
    const { x, y } = place(l, cursor);
    ctx.strokeStyle = colours.text;
    ctx.lineWidth = 2.5;
    ctx.strokeRect(x - 1, y - 1, side + 2, side + 2);
  }
  return moves;
}

/** Marks a shard of which a result was proven wrong: a ring with a cross, as a vote scratched into a sherd. */
function lie(ctx: CanvasRenderingContext2D, x: number, y: number, side: number, colours: Colours) {
  ctx.strokeStyle = colours.lie;
  ctx.fillStyle = colours.surface;
  if (side < 9) {
    ctx.fillStyle = colours.lie;
    ctx.fillRect(x, y, side, side);
    return;
  }
  const r = side * 0.36;
  const cx = x + side / 2;
  const cy = y + side / 2;
  ctx.beginPath();
  ctx.arc(cx, cy, r, 0, 7);
  ctx.fill();
  ctx.lineWidth = Math.max(1.5, side / 11);
  ctx.stroke();
  const d = r * 0.5;
  ctx.beginPath();
  ctx.moveTo(cx - d, cy - d);
  ctx.lineTo(cx + d, cy + d);
  ctx.moveTo(cx + d, cy - d);
  ctx.lineTo(cx - d, cy + d);
  ctx.stroke();
  ctx.lineWidth = Math.max(2, side / 11);
  ctx.strokeRect(x + 1, y + 1, side - 2, side - 2);
  ctx.lineWidth = 1;
}
