import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import type { Schemas } from "./client";
import { parseJSON } from "./json";
import { usePrefs } from "../lib/prefs";
import { eventsQuery, jobQuery } from "./reads";

/** How far a job was at a moment that this page saw. */
export interface Sample {
  at: number;
  accepted: number;
}

const samplesKept = 600;
const kinds = [
  "submitted", "running", "page", "agent_caught", "review", "comparison_failed", "shard_failed", "finding", "scoring_failed", "aggregating", "aggregation_failed", "held",
  "reaggregating", "reaggregated", "reopened", "flag_resolved", "incident", "ended", "follow_up", "follow_up_skipped",
];

/** Follows a job by its stream of events while the page is seen and not paused; what comes goes into the cache of the queries. */
export function useFollow(project: string, job: string, ended: boolean): { samples: Sample[]; connected: boolean } {
  const client = useQueryClient();
  const { live } = usePrefs();
  const [samples, setSamples] = useState<Sample[]>([]);
  const [connected, setConnected] = useState(false);
  const [hidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  useEffect(() => {
    if (ended || !live || hidden) return;
    const known = client.getQueryData(eventsQuery(project, job).queryKey);
    const stream = new EventSource(`/v1/projects/${project}/jobs/${job}/events?since=${known?.at(-1)?.seq ?? 0}`);
    stream.onopen = () => setConnected(true);
    stream.onerror = () => {
      setConnected(false);
      void client.invalidateQueries({ queryKey: ["job", project, job] }); // it may have ended, or the session may be over
    };
    stream.addEventListener("progress", (e) => {
      const now = parseJSON((e as MessageEvent<string>).data) as Schemas["JobProgress"];
      client.setQueryData(jobQuery(project, job).queryKey, (old) => old && { ...old, state: now.state, shards: now.shards, attempts: now.attempts });
      setSamples((s) => [...s.slice(-samplesKept), { at: Date.now(), accepted: now.shards.accepted }]);
      void client.invalidateQueries({ queryKey: ["map", project, job] });
    });
    const heard = (e: Event) => {
      const event = parseJSON((e as MessageEvent<string>).data) as Schemas["Event"];
      client.setQueryData(eventsQuery(project, job).queryKey, (old) => (old?.some((o) => o.seq === event.seq) ? old : [...(old ?? []), event]));
      void client.invalidateQueries({ queryKey: ["job", project, job] });
      if (event.type === "agent_caught" || event.type === "reopened") {
        void client.invalidateQueries({ queryKey: ["flags", project] });
        void client.invalidateQueries({ queryKey: ["agents", project] });
      }
    };
    kinds.forEach((k) => stream.addEventListener(k, heard));
    return () => {
      stream.close();
      setConnected(false);
    };
  }, [client, project, job, ended, live, hidden]);
  return { samples, connected };
}
