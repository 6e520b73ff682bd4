import { useSyncExternalStore } from "react";

/** What this browser remembers; nothing of it is needed to see the same page elsewhere. */
interface Prefs {
  theme: "system" | "light" | "dark";
  zone: "local" | "utc";
  live: boolean;
}

const key = "ostraka.prefs";
const listeners = new Set<() => void>();

function read(): Prefs {
  const start: Prefs = { theme: "system", zone: "local", live: true };
  try {
    return { ...start, ...(JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Prefs>), live: true };
  } catch {
    return start;
  }
}

let prefs = read();
apply();

function apply() {
  if (prefs.theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = prefs.theme;
}

export function setPrefs(change: Partial<Prefs>) {
  prefs = { ...prefs, ...change };
  try {
    localStorage.setItem(key, JSON.stringify(prefs));
  } catch {
    // a browser that remembers nothing still shows everything
  }
  apply();
  listeners.forEach((f) => f());
}

export function usePrefs(): Prefs {
  return useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => prefs,
  );
}

/** How often to look again: never while the page is paused. */
export function useEvery(ms: number): number | false {
  return usePrefs().live ? ms : false;
}
