import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

import { forgetFailed, takeBack, takenBackWithin, useHeld } from "../lib/pending";
import { visible } from "../ui/bits";
import { Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";

/** Says what was decided last and is not sent yet, and takes it back; and which decisions were sent in vain. */
export function Undo() {
  const { pending, failed } = useHeld();
  const navigate = useNavigate();
  const undo = () => {
    const about = takeBack();
    if (about) void navigate({ to: "/p/$project/review/$flag", params: { project: about.project, flag: about.flag } });
  };
  useEffect(() => {
    if (!pending) return;
    const key = (e: KeyboardEvent) => {
      if (e.key !== "u" || e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement || e.metaKey || e.ctrlKey || e.altKey) return;
      e.preventDefault();
      undo();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  return (
    <>
      {failed.map((f) => (
        <section key={f.flag} className={ui.stack} aria-label="A decision that was not taken">
          <p className={ui.row}>
            <span>Not decided: <Link to="/p/$project/review/$flag" params={{ project: f.project, flag: f.flag }}>{visible(f.words)}</Link></span>
            <button type="button" className={`${ui.button} ${ui.small}`} onClick={() => forgetFailed(f.flag)}>Close</button>
          </p>
          <Trouble error={f.error} />
        </section>
      ))}
      {pending && (
        <p className={ui.row} role="status">
          <span>{visible(pending.words)} It is sent in {takenBackWithin / 1000} seconds.</span>
          <button type="button" className={ui.button} onClick={undo}>Undo <kbd>u</kbd></button>
        </p>
      )}
    </>
  );
}
