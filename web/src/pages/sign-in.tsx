import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { signIn, whoAmI } from "../api/session";
import { useBuild } from "../lib/build";
import { forgetHeld } from "../lib/pending";
import { sessionQuery } from "../api/reads";
import { Trouble } from "../ui/panel";
import shell from "../ui/shell.module.css";
import ui from "../ui/ui.module.css";
import mark from "../mark.svg";

/** A path of this portal and nothing else: never another site's address. */
function inside(path: string | undefined | null): string {
  return path && /^\/(?![/\\])/.test(path) ? path : "/";
}

/** Why signing in at the organisation's provider did not work. */
const refusals: Record<string, string> = {
  denied: "The provider did not let you in.",
  state: "It took longer than ten minutes, or began elsewhere. Try again.",
  no_role: "You are in no group that may come in here. Ask whoever runs this server.",
  unavailable: "The provider does not answer. Try again later.",
  internal: "Signing in did not work. The server's log says why.",
};

export function SignInPage() {
  const { to, ended } = useSearch({ strict: false }) as { to?: string; ended?: string };
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const linked = useRef(false);
  useEffect(forgetHeld, []);
  const { oidc } = useBuild();
  const [refused] = useState(() => new URLSearchParams(location.hash.slice(1)).get("error"));
  useEffect(() => void whoAmI().catch(() => {}), []); // the answer says how one may sign in

  const enter = async (secret: string, next: string) => {
    setBusy(true);
    setError(undefined);
    try {
      client.clear();
      await signIn(secret);
      client.setQueryData(sessionQuery.queryKey, await whoAmI()); // which session it is, too
      await navigate({ href: next, replace: true });
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };

  useEffect(() => {
    // A link that signs in once: its secret stands behind the #, where no server sees it, and leaves the address at once.
    const hash = new URLSearchParams(location.hash.slice(1));
    const link = hash.get("link");
    if (!link || linked.current) return;
    linked.current = true;
    history.replaceState(history.state, "", location.pathname);
    void enter(link, inside(hash.get("to")));
  });

  return (
    <main className={shell.signIn}>
      <form
        className={shell.signBox}
        onSubmit={(e) => {
          e.preventDefault();
          void enter(key.trim(), inside(to));
        }}
      >
        <div className={ui.row}>
          <img src={mark} alt="" width={36} height={36} />
          <h1>Ostraka</h1>
        </div>
        <p className={ui.muted}>{ended ? "Your session has ended. Sign in to go on where you were." : "Answers that can be trusted, from machines that nobody has to trust."}</p>
        <label className={ui.field}>
          <span>API key</span>
          <input className={ui.input} type="password" autoComplete="current-password" value={key} onChange={(e) => setKey(e.target.value)} placeholder="ostraka_…" required autoFocus />
          <small>It is exchanged for a cookie, and not kept by the page.</small>
        </label>
        {refused && <p role="alert">{refusals[refused] ?? refusals.internal}</p>}
        {error !== undefined && <Trouble error={error} />}
        <button type="submit" className={`${ui.button} ${ui.primary}`} disabled={busy}>{busy ? "Signing in…" : "Sign in"}</button>
        {oidc && <a className={ui.button} href={`/v1/session/oidc?to=${encodeURIComponent(inside(to))}`}>Sign in with your organisation’s account</a>}
        <p className={ui.muted}>
          On the server's machine, <code>ostraka open</code> signs this browser in without a key.
        </p>
      </form>
    </main>
  );
}
