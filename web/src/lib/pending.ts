import { useSyncExternalStore } from "react";

import { whoAmI, type Identity } from "../api/session";

/** How long a decision can be taken back before it is sent, in ms. */
export const takenBackWithin = 10_000;

/** A flag that somebody has decided about. */
export interface About {
  project: string;
  flag: string;
  words: string;
}

/** A decision that is not sent yet. */
interface Pending extends About {
  /** Who has decided: it is sent in nobody else's name. */
  who: Identity | null | undefined;
  /** Sends it; `leaving` when the page is about to end. */
  send: (leaving: boolean) => Promise<unknown>;
}

interface Held {
  pending?: Pending;
  /** Decisions that were sent in vain, until somebody has read of it. */
  failed: (About & { error: unknown })[];
}

let held: Held = { failed: [] };
let timer = 0;
const listeners = new Set<() => void>();

function become(next: Held) {
  held = next;
  listeners.forEach((f) => f());
}

const same = (a: Pending["who"], b: Pending["who"]) => !!a && !!b && a.role === b.role && a.project === b.project && a.key_id === b.key_id && a.subject === b.subject;

/** Decisions that another one took the place of, until they are on their way. */
const followed = new Set<Pending>();

/** Takes a decision out of where it waits, and says whether it was there still: it may have been taken back, or sent. */
function taken(pending: Pending): boolean {
  if (followed.delete(pending)) return true;
  if (held.pending !== pending) return false;
  become({ ...held, pending: undefined });
  return true;
}

/** Sends a decision, and says whether that went well. */
async function send(pending: Pending, leaving: boolean): Promise<boolean> {
  try {
    // Another tab may have signed somebody else in. A page that is left has no time to ask.
    if (!leaving && !same(pending.who, await whoAmI())) throw new Error("you are not signed in any more as who has decided: look at the flag and decide again");
    if (taken(pending)) await pending.send(leaving);
    return true;
  } catch (error) {
    taken(pending);
    const { project, flag, words } = pending;
    become({ ...held, failed: [...held.failed, { project, flag, words, error }] });
    return false;
  }
}

/** Sends what is held, now, and says whether that went well. */
export async function sendHeld(): Promise<boolean> {
  clearTimeout(timer);
  return held.pending ? send(held.pending, false) : true;
}

/** Holds a decision for ten seconds. One that is held already is sent. */
export async function hold(pending: Pending) {
  const before = held.pending;
  clearTimeout(timer);
  become({ ...held, pending });
  timer = window.setTimeout(() => void sendHeld(), takenBackWithin);
  if (!before) return;
  followed.add(before);
  await send(before, false);
}

/** Takes the held decision back: nothing is sent. Returns what it was about. */
export function takeBack(): About | undefined {
  clearTimeout(timer);
  const { pending } = held;
  become({ ...held, pending: undefined });
  return pending;
}

/** Forgets that a decision was sent in vain. */
export const forgetFailed = (flag: string) => become({ ...held, failed: held.failed.filter((f) => f.flag !== flag) });

/** Forgets everything: whoever signs in next has decided nothing. */
export function forgetHeld() {
  clearTimeout(timer);
  followed.clear();
  become({ failed: [] });
}

addEventListener("pagehide", () => {
  for (const p of [...followed, ...(held.pending ? [held.pending] : [])]) void send(p, true);
});

export const useHeld = () =>
  useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => held,
  );
