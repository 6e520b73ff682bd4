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

async function send(pending: Pending, leaving: boolean) {
  // Another tab may have signed somebody else in. A page that is left has no time to ask.
  if (!leaving && !same(pending.who, await whoAmI())) throw new Error("you are not signed in any more as who has decided: look at the flag and decide again");
  if (held.pending !== pending) return; // it was taken back, or sent, while the server was asked
  become({ ...held, pending: undefined });
  await pending.send(leaving);
}

/** Sends what is held, now, and says whether that went well. */
export async function sendHeld(leaving = false): Promise<boolean> {
  const { pending } = held;
  if (!pending) return true;
  clearTimeout(timer);
  try {
    await send(pending, leaving);
    return true;
  } catch (error) {
    const { project, flag, words } = pending;
    become({ pending: held.pending === pending ? undefined : held.pending, failed: [...held.failed, { project, flag, words, error }] });
    return false;
  }
}

/** Holds a decision for ten seconds. One that is held already is sent first. */
export async function hold(pending: Pending) {
  await sendHeld();
  become({ ...held, pending });
  timer = window.setTimeout(() => void sendHeld(), takenBackWithin);
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
  become({ failed: [] });
}

addEventListener("pagehide", () => void sendHeld(true));

export const useHeld = () =>
  useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => held,
  );
