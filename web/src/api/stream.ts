import type { QueryClient } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useRef, useState } from "react";

import type { Schemas } from "./client";
import { parseJSON } from "./json";
import { eventsQuery, jobQuery, sessionQuery } from "./reads";
import { Throttle } from "./throttle";
import { usePrefs } from "../lib/prefs";

/** How far a job was at a moment that this page saw. */
export interface Sample {
  at: number;
  accepted: number;
}

/** What the stream of a project's events says that no query holds. */
export interface Stream {
  /** Whether it flows: while it does not, pages ask by themselves. */
  connected: boolean;
  /** How many flags wait, once it has said so. */
  waiting?: number;
  /** How far the job of the page was, lately. */
  samples: Sample[];
}

const still: Stream = { connected: false, samples: [] };
const samplesKept = 600;

/** How long until a stream that the server has refused is opened again, in ms. One that broke off the browser opens again by itself. */
const againAfter = 5000;

/** How often at most what a change concerns is read again, in ms: two hundred tabs must cost next to nothing. */
const pace = { map: 2000, job: 5000, list: 3000, why: 5000, boxes: 4000 } as const;

const StreamContext = createContext<Stream>(still);
export const StreamProvider = StreamContext.Provider;
export const useStream = () => useContext(StreamContext);

/** How often to look again at what the stream tells of: seldom while it flows, never while the page is paused. */
export function useUntold(ms: number): number | false {
  const { live } = usePrefs();
  const { connected } = useStream();
  return !live ? false : connected ? Math.max(ms, 15_000) : ms;
}

/** Whether somebody can see this tab: one that nobody sees keeps no connection. */
function useSeen(): boolean {
  const [seen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setSeen(!document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return seen;
}

/** Follows a project by the one stream that this tab has; `job` is that of the page. What comes goes into the queries that it concerns. */
export function useProjectStream(project: string | undefined, job: string | undefined): Stream {
  const client = useQueryClient();
  const { live } = usePrefs();
  const seen = useSeen();
  const [stream, setStream] = useState<Stream>(still);
  const [tries, setTries] = useState(0);
  const throttle = useMemo(() => new Throttle((queryKey) => void client.invalidateQueries({ queryKey })), [client]);
  const awake = live && seen;
  const slept = useRef(false);
  useEffect(() => {
    if (awake && slept.current) void client.invalidateQueries(); // what has happened meanwhile no stream has told
    if (!awake) throttle.stop();
    slept.current = !awake;
  }, [client, throttle, awake]);
  useEffect(() => setStream((s) => ({ ...s, samples: [] })), [project, job]);
  useEffect(() => {
    if (!project || !awake) return;
    const topics = ["jobs", "flags", "agents", ...(job ? [`job:${job}`] : [])].join(",");
    const source = new EventSource(`/v1/projects/${project}/events?topics=${topics}`);
    let again = 0;
    const on = <T>(kind: string, hear: (said: T) => void) => source.addEventListener(kind, (e) => hear(parseJSON((e as MessageEvent<string>).data) as T));
    source.onopen = () => setStream((s) => ({ ...s, connected: true }));
    source.onerror = () => {
      setStream((s) => ({ ...s, connected: false }));
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey }); // the session may be over
      if (source.readyState === EventSource.CLOSED) again = window.setTimeout(() => setTries((n) => n + 1), againAfter);
    };
    on("reset", () => void client.invalidateQueries()); // it is another server's stream: what was missed nobody knows
    on<Schemas["FlagsLook"]>("flags", ({ open }) => {
      setStream((s) => ({ ...s, waiting: Number(open) }));
      throttle.soon(["flags", project], pace.list);
    });
    on("agents", () => throttle.soon(["agents", project], pace.list));
    on<Schemas["ProjectJob"]>("job", (said) => {
      hearJob(client, throttle, project, said);
      if (said.id === job) setStream((s) => ({ ...s, samples: [...s.samples.slice(-samplesKept), { at: Date.now(), accepted: said.shards.accepted }] }));
    });
    return () => {
      source.close();
      clearTimeout(again);
      setStream((s) => ({ ...s, connected: false }));
    };
  }, [client, throttle, project, job, awake, tries]);
  return stream;
}

interface Pages {
  items?: Schemas["Job"][];
  pages?: { items: Schemas["Job"][] }[];
}

/** Writes how a job is into every query that shows it, and has read again what only the server knows. */
function hearJob(client: QueryClient, throttle: Throttle, project: string, said: Schemas["ProjectJob"]) {
  const { id, state, shards, attempts } = said;
  const key = jobQuery(project, id).queryKey;
  const before = client.getQueryData(key);
  const now = (old: Schemas["Job"]) => (old.id === id ? { ...old, state, shards, attempts } : old);
  client.setQueryData(key, (old) => old && now(old));
  let listed = false;
  let turned = false;
  const patch = (items: Schemas["Job"][]) => items.map((old) => {
    if (old.id !== id) return old;
    listed = true;
    turned ||= old.state !== state;
    return now(old);
  });
  for (const name of ["jobs", "overview-jobs"]) {
    client.setQueriesData<Pages>({ queryKey: [name, project] }, (old) => old && {
      ...old, ...(old.items ? { items: patch(old.items) } : {}), ...(old.pages ? { pages: old.pages.map((p) => ({ ...p, items: patch(p.items) })) } : {}),
    });
    if (!listed || turned) throttle.soon([name, project], pace.list); // it is new there, or is in another view now
  }
  if (!before) return;
  const events = eventsQuery(project, id).queryKey;
  if (said.event_seq > (client.getQueryData(events)?.at(-1)?.seq ?? 0)) {
    void client.invalidateQueries({ queryKey: events });
    throttle.soon(["flags", project], pace.list);
    throttle.soon(["agents", project], pace.list);
  }
  throttle.soon(key, before.state === state ? pace.job : 0);
  throttle.soon(["map", project, id], pace.map);
  throttle.soon(["explain", project, id], pace.why);
  throttle.soon(["sandboxes", project, { job: id, running: true }], pace.boxes);
  for (const name of ["aggregations", "chain", "metrics"]) throttle.soon([name, project, id], pace.job);
}
