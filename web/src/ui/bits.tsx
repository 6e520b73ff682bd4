import { useEffect, useId, useRef, useState, type ReactNode } from "react";

import css from "./ui.module.css";
import { printJSON } from "../api/json";
import { ago, digits, nearPower, short } from "../lib/format";
import { usePrefs } from "../lib/prefs";

function copy(text: string, done: () => void) {
  navigator.clipboard?.writeText(text).then(done, () => {});
}

/** An ID or a digest: short to read, whole when copied. */
export function Id({ value, whole }: { value: string; whole?: boolean }) {
  const [copied, setCopied] = useState(false);
  const shown = () => {
    setCopied(true);
    setTimeout(() => setCopied(false), 1200);
  };
  return (
    <button type="button" className={css.id} title={`${value}: click to copy`} onClick={() => copy(value, shown)}>
      {copied ? "copied" : whole ? value : short(value)}
    </button>
  );
}

/** An integer of any size: grouped for people, whole when copied. */
export function Int({ value }: { value: string | number | bigint }) {
  const text = String(value);
  const near = nearPower(text);
  return (
    <span className="mono" title={text} data-value={text}>
      {digits(text)}
      {near && <span className={css.muted}> ({near})</span>}
    </span>
  );
}

/** A time, in the zone that was chosen, and how long ago that is. */
export function When({ at, bare }: { at: string; bare?: boolean }) {
  const { zone } = usePrefs();
  const date = new Date(at);
  const options: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "medium", ...(zone === "utc" ? { timeZone: "UTC" } : {}) };
  const text = `${new Intl.DateTimeFormat("en-GB", options).format(date)}${zone === "utc" ? " UTC" : ""}`;
  return <time dateTime={at} title={at}>{bare ? ago(at) : `${text} · ${ago(at)}`}</time>;
}

/** A value as JSON, as text: nothing in it is ever markup. Long ones are shown up to 64 KiB. */
export function Json({ value, label }: { value: unknown; label?: string }) {
  return <Text text={printJSON(value)} label={label} />;
}

const shownAtMost = 64 * 1024;

/** Text that somebody else wrote. What would turn it around or hide in it is shown as what it is. */
export function Text({ text, label = "value" }: { text: string; label?: string }) {
  const [all, setAll] = useState(false);
  const cut = text.length > shownAtMost && !all;
  const [copied, setCopied] = useState(false);
  return (
    <div>
      <pre className={css.json} tabIndex={0} role="region" aria-label={label}>{visible(cut ? text.slice(0, shownAtMost) : text)}</pre>
      <div className={css.row}>
        <button type="button" className={`${css.button} ${css.small} ${css.plain}`} onClick={() => copy(text, () => setCopied(true))}>{copied ? "Copied" : "Copy"}</button>
        {cut && (
          <button type="button" className={`${css.button} ${css.small} ${css.plain}`} onClick={() => setAll(true)}>
            Showing {digits(shownAtMost)} of {digits(text.length)} characters: show all
          </button>
        )}
      </div>
    </div>
  );
}

/** Makes visible what has no picture of its own or changes the direction of what follows. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same call for the command line and for curl. */
export function AsCalls({ cli, curl, label = "As CLI · curl" }: { cli: string; curl: string; label?: string }) {
  const id = useId();
  return (
    <>
      <button type="button" className={css.button} popoverTarget={id}>{label}</button>
      <div id={id} popover="auto" className={css.popover}>
        <div className={css.stack}>
          <h2>On the command line</h2>
          <Text text={cli} label="command" />
          <h2>With curl</h2>
          <Text text={curl} label="curl command" />
        </div>
      </div>
    </>
  );
}

/** Asks before something is done that cannot be undone. */
export function Ask({ label, title, children, confirm, danger, onConfirm, onOpen, waits = false, reason, longest = 500 }: {
  label: string; title: string; children: ReactNode; confirm: string; danger?: boolean; reason?: boolean; longest?: number; onConfirm: (reason: string) => Promise<unknown>;
  /** What is found out first, and whether it is still being found out: nobody confirms before. */
  onOpen?: () => void; waits?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  useEffect(() => setError(undefined), [why]);
  return (
    <>
      <button type="button" className={`${css.button} ${danger ? css.danger : ""}`} onClick={() => { ref.current?.showModal(); onOpen?.(); }}>{label}</button>
      <dialog ref={ref} className={css.dialog} aria-label={title}>
        <form
          onSubmit={(e) => {
            e.preventDefault();
            setBusy(true);
            onConfirm(why).then(() => ref.current?.close(), (x: Error) => setError(x)).finally(() => setBusy(false));
          }}
        >
          <h2>{title}</h2>
          <div>{children}</div>
          {reason && (
            <label className={css.field}>
              <span>Reason</span>
              <input className={css.input} value={why} onChange={(e) => setWhy(e.target.value)} required maxLength={longest} />
            </label>
          )}
          {error && <p role="alert" style={{ color: "var(--danger)" }}>{error.message}</p>}
          <div className={`${css.row} ${css.end}`}>
            <button type="button" className={css.button} onClick={() => ref.current?.close()}>Keep as it is</button>
            <button type="submit" className={`${css.button} ${css.primary}`} disabled={busy || waits}>{confirm}</button>
          </div>
        </form>
      </dialog>
    </>
  );
}
