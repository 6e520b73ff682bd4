import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState } from "react";

import css from "./query-field.module.css";
import ui from "./ui.module.css";
import { findID, useCandidates, type Target } from "../api/find";
import { visible } from "./bits";

const shownAtMost = 12;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** One field for everything that has a page: names, IDs, and filters of jobs. The key / leads to it from anywhere. */
export function QueryField({ project }: { project: string }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const [missing, setMissing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const navigate = useNavigate();
  const { job } = useParams({ strict: false });
  const found = useCandidates(project, job, text.trim(), open).slice(0, shownAtMost);
  useEffect(() => {
    const hear = (e: KeyboardEvent) => {
      const typing = e.target instanceof Element && e.target.closest("input, textarea, select, [contenteditable]");
      if (e.key !== "/" || typing || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
      e.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", hear);
    return () => document.removeEventListener("keydown", hear);
  }, []);
  const type = (said: string) => {
    setText(said);
    setAt(0);
    setOpen(true);
    setMissing(false);
  };
  const go = async (to: Target | undefined) => {
    setMissing(!to);
    if (!to) return;
    setText("");
    setOpen(false);
    input.current?.blur();
    await navigate({ to: to.to as "/", search: (to.search ?? {}) as never });
  };
  const id = uuid.test(text.trim()) ? text.trim().toLowerCase() : undefined;
  const lookUp = useQuery({ queryKey: ["find", project, id], queryFn: () => findID(project, id!), enabled: false, retry: false });
  const choose = (n: number) => {
    if (found[n]) void go(found[n]);
    else if (id) void lookUp.refetch().then((r) => go(r.data ?? undefined));
    else setMissing(true);
  };
  const shown = open && text.trim() !== "";
  return (
    <div className={css.field}>
      <input
        ref={input} className={ui.input} type="search" role="combobox" aria-label="Find" placeholder="Find ( / )" value={text} autoComplete="off" spellCheck={false} maxLength={200}
        aria-expanded={shown} aria-controls={shown ? list : undefined} aria-activedescendant={shown && found[at] ? `${list}-${at}` : undefined}
        onChange={(e) => type(e.target.value)} onFocus={() => setOpen(true)} onBlur={() => setOpen(false)}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown" || e.key === "ArrowUp") {
            e.preventDefault();
            setAt((n) => Math.max(0, Math.min(found.length - 1, n + (e.key === "ArrowDown" ? 1 : -1))));
          } else if (e.key === "Enter") choose(at);
          else if (e.key === "Escape") input.current?.blur();
        }}
      />
      {shown && (
        <div className={css.found}>
          <ul id={list} role="listbox" aria-label="Found">
            {found.map((f, i) => (
              // The field must not lose the focus before the click is heard.
              <li key={f.to + f.name} id={`${list}-${i}`} role="option" aria-selected={i === at} onMouseDown={(e) => e.preventDefault()} onClick={() => choose(i)}>
                <span>{visible(f.name)}</span> <span className={ui.muted}>{visible(f.kind)}</span>
              </li>
            ))}
            {found.length === 0 && <li role="option" aria-selected={false} aria-disabled="true" className={ui.muted}>{missing ? "Nothing has this ID or name." : id ? "Enter looks up this ID." : "Nothing found so far. Also: state:failed fn:NAME, or a whole ID."}</li>}
          </ul>
        </div>
      )}
    </div>
  );
}
