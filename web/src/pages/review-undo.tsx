import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

import { takeBack, useHeld } from "../lib/pending";
import { visible } from "../ui/bits";
import { Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";

/** Says what was decided last and is not sent yet, and takes it back. */
export function Undo({ project }: { project: string }) {
  const { pending, error } = useHeld();
  const navigate = useNavigate();
  const undo = () => {
    const flag = takeBack();
    if (flag) void navigate({ to: "/p/$project/review/$flag", params: { project, flag } });
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
  if (error !== undefined) return <Trouble error={error} />;
  if (!pending) return null;
  return (
    <p className={ui.row} role="status">
      <span>{visible(pending.words)} It is sent in ten seconds.</span>
      <button type="button" className={ui.button} onClick={undo}>Undo <kbd>u</kbd></button>
    </p>
  );
}
