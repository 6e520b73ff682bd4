import { Link } from "@tanstack/react-router";
import { useState } from "react";

import css from "./ui.module.css";

interface View {
  name: string;
  search: Record<string, string>;
}

/** How many views of a list a browser remembers: as many as one still finds something in. The oldest goes. */
const viewsAtMost = 20;

function read(key: string): View[] {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "[]") as View[];
  } catch {
    return [];
  }
}

/** Views of a list that somebody has given a name: this browser remembers them, and the address of each can be sent to others. */
export function SavedViews({ list, search }: { list: string; search: Record<string, string | undefined> }) {
  const key = `ostraka.views.${list}`;
  const [views, setViews] = useState(() => read(key));
  const [name, setName] = useState("");
  const chosen = Object.fromEntries(Object.entries(search).filter((e): e is [string, string] => !!e[1]));
  const keep = (next: View[]) => {
    setViews(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // a browser that remembers nothing has the address still
    }
  };
  const filtered = Object.keys(chosen).length > 0;
  if (!filtered && views.length === 0) return null;
  return (
    <details>
      <summary>Saved views{views.length > 0 && ` (${views.length})`}</summary>
      <div className={css.stack}>
        {views.map((v) => (
          <div key={v.name} className={css.row}>
            <Link to="." search={v.search}>{v.name}</Link>
            <button type="button" className={`${css.button} ${css.small}`} aria-label={`Forget the view ${v.name}`} onClick={() => keep(views.filter((o) => o !== v))}>Forget</button>
          </div>
        ))}
        {filtered && (
          <form
            className={css.row}
            onSubmit={(e) => {
              e.preventDefault();
              keep([...views.filter((v) => v.name !== name.trim()), { name: name.trim(), search: chosen }].slice(-viewsAtMost));
              setName("");
            }}
          >
            <input className={css.input} style={{ width: "14rem" }} aria-label="Name of this view" placeholder="Name of this view" value={name} onChange={(e) => setName(e.target.value)} required pattern=".*\S.*" maxLength={60} />
            <button type="submit" className={css.button}>Save it</button>
          </form>
        )}
      </div>
    </details>
  );
}
