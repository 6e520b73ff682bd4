import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";

import css from "./mosaic.module.css";
import { at, coloursOf, draw, layout, place, type Tile } from "./mosaic-draw";
import { glyphs, states, type Shown } from "./state";
import { digits } from "../lib/format";
import { usePrefs } from "../lib/prefs";

/** The shards of a job, or its pages, as tiles. */
export function Mosaic({ tiles, name, sentence, only, onOnly, onOpen }: {
  tiles: Tile[];
  name: (tile: number) => string;
  sentence: string;
  only?: Shown;
  onOnly: (s: Shown | undefined) => void;
  onOpen: (tile: number) => void;
}) {
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [cursor, setCursor] = useState(-1);
  const [hover, setHover] = useState(-1);
  const [said, setSaid] = useState("");
  const { theme } = usePrefs();
  const [scheme, setScheme] = useState(0); // counts changes of the system's theme

  useEffect(() => {
    const sized = new ResizeObserver(([e]) => setWidth(Math.floor(e!.contentRect.width)));
    sized.observe(stage.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const turn = () => setScheme((n) => n + 1);
    dark.addEventListener("change", turn);
    return () => {
      sized.disconnect();
      dark.removeEventListener("change", turn);
    };
  }, []);

  const l = useMemo(() => layout(tiles.length, Math.max(width, 64)), [tiles.length, width]);

  useEffect(() => {
    const c = canvas.current;
    if (!c || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    c.width = Math.round(l.width * ratio);
    c.height = Math.round(Math.max(l.height, 1) * ratio);
    const colours = coloursOf(stage.current!);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const ctx = c.getContext("2d")!;
    let frame = 0;
    const paint = () => {
      if (draw(ctx, l, tiles, colours, cursor, only, Date.now(), still)) frame = requestAnimationFrame(paint);
    };
    frame = requestAnimationFrame(paint);
    return () => cancelAnimationFrame(frame);
  }, [tiles, l, width, cursor, only, theme, scheme]);

  const totals = useMemo(() => {
    const sums = new Array<number>(states.length).fill(0);
    for (const t of tiles) for (let s = 0; s < states.length; s++) sums[s]! += t.counts[s]!;
    return sums;
  }, [tiles]);
  const wrong = useMemo(() => tiles.reduce((n, t) => n + (t.wrong > 0 ? 1 : 0), 0), [tiles]);

  const describe = (i: number) => {
    const t = tiles[i];
    if (!t) return "";
    const parts = states.filter((_, s) => t.counts[s]! > 0).map((s) => (single(t) ? s : `${digits(t.counts[states.indexOf(s)]!)} ${s}`));
    return `${name(i)}: ${t.words ?? parts.join(", ")}${t.provisional ? ", not final" : ""}${t.wrong > 0 ? (single(t) ? ", a wrong result was found out here" : `, ${t.wrong} wrong results found out`) : ""}`;
  };

  const keys = (e: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: l.block, ArrowUp: -l.block }[e.key];
    if (step !== undefined) {
      e.preventDefault();
      const next = cursor < 0 ? 0 : Math.min(tiles.length - 1, Math.max(0, cursor + step));
      setCursor(next);
      setSaid(describe(next));
    } else if (e.key === "Enter" && cursor >= 0) {
      e.preventDefault();
      onOpen(cursor);
    } else if (e.key === "Home" || e.key === "End") {
      e.preventDefault();
      setCursor(e.key === "Home" ? 0 : tiles.length - 1);
    }
  };
  const under = (e: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return at(l, tiles.length, e.clientX - box.left, e.clientY - box.top);
  };
  const tip = hover >= 0 && hover < tiles.length ? place(l, hover) : undefined;

  return (
    <div className={css.wrap}>
      <div className={css.legend} role="group" aria-label="Show only tiles in a state">
        {states.map((s, i) => (totals[i]! > 0 || s === "accepted") && (
          <button key={s} type="button" aria-pressed={only === s} onClick={() => onOnly(only === s ? undefined : s)}>
            <span className={css.swatch} style={{ background: `var(--s-${s})`, color: s === "accepted" || s === "review" || s === "failed" ? "#fff" : "#101418" }} aria-hidden="true">{glyphs[s]}</span>
            {s} <b>{digits(totals[i]!)}</b>
          </button>
        ))}
        {wrong > 0 && (
          <span style={{ marginLeft: "auto", color: "var(--danger)", fontWeight: 600 }}>
            ⊗ {digits(wrong)} {wrong === 1 ? "place" : "places"} where a lie was found out
          </span>
        )}
      </div>
      <div className={css.stage} ref={stage}>
        <canvas
          ref={canvas}
          className={css.canvas}
          style={{ height: l.height }}
          role="img"
          aria-label={`${sentence} Move with the arrow keys, open with Enter.`}
          tabIndex={0}
          onKeyDown={keys}
          onPointerMove={(e) => setHover(under(e))}
          onPointerLeave={() => setHover(-1)}
          onClick={(e) => {
            const i = under(e as unknown as PointerEvent);
            if (i >= 0) onOpen(i);
          }}
        />
        {tip && <div className={css.tip} style={{ left: Math.min(Math.max(tip.x + l.size / 2, 90), Math.max(90, l.width - 90)), top: tip.y }}>{describe(hover)}</div>}
        <div className="hidden-visually" aria-live="polite">{said}</div>
      </div>
    </div>
  );
}

const single = (t: Tile) => Array.prototype.reduce.call(t.counts as number[], (a, b) => (a as number) + (b as number), 0) === 1;
