import { useSyncExternalStore } from "react";

/** How long a decision can be taken back before it is sent, in ms. */
export const takenBackWithin = 10_000;

/** Something that somebody has decided and that is not sent yet. */
interface Pending {
  /** What it is about, so that its page shows that it is decided. */
  about: string;
  words: string;
  /** Sends it; `leaving` when the page is about to end. */
  send: (leaving: boolean) => Promise<unknown>;
}

interface Held {
  pending?: Pending;
  error?: unknown;
}

let held: Held = {};
let timer = 0;
const listeners = new Set<() => void>();

function become(next: Held) {
  held = next;
  listeners.forEach((f) => f());
}

/** Sends what is held, now. */
export async function sendHeld(leaving = false) {
  const { pending } = held;
  if (!pending) return;
  clearTimeout(timer);
  become({});
  try {
    await pending.send(leaving);
  } catch (error) {
    become({ ...held, error });
  }
}

/** Holds a decision for ten seconds. One that is held already is sent first. */
export async function hold(pending: Pending) {
  await sendHeld();
  become({ pending });
  timer = window.setTimeout(() => void sendHeld(), takenBackWithin);
}

/** Takes the held decision back: nothing is sent. Returns what it was about. */
export function takeBack(): string | undefined {
  clearTimeout(timer);
  const about = held.pending?.about;
  become({});
  return about;
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
