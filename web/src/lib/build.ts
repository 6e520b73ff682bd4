import { useSyncExternalStore } from "react";

/** Which pages and which server answered: first, when this page was loaded, and last. */
interface Build {
  first?: string;
  portal?: string;
  server?: string;
  /** Whether people of an organisation may sign in at its provider. */
  oidc?: boolean;
}

let build: Build = {};
const listeners = new Set<() => void>();

/** Notes of which build an answer is. */
export function heard(headers: Headers) {
  const portal = headers.get("Ostraka-Portal") ?? build.portal;
  const server = headers.get("Ostraka-Version") ?? build.server;
  const oidc = headers.get("Ostraka-Sign-In") === "oidc" || build.oidc;
  if (portal === build.portal && server === build.server && oidc === build.oidc) return;
  build = { first: build.first ?? portal, portal, server, oidc };
  listeners.forEach((f) => f());
}

/** The server's version, and whether it has other pages than this one by now. */
export function useBuild(): Build & { updated: boolean } {
  const b = useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => build,
  );
  return { ...b, updated: b.first !== undefined && b.portal !== b.first };
}
