import { useEffect, useState } from "react";

import type { Schemas } from "./client";
import { parseJSON } from "./json";
import { usePrefs } from "../lib/prefs";

/** How far the server counts what waits; one more stands for "more". */
export const countedTo = 10_000;

/** How many flags of a project wait for people, by its stream of changes; undefined until that has said so. A list of flags is only its first page. */
export function useWaiting(project: string): number | undefined {
  const { live } = usePrefs();
  const [heard, setHeard] = useState<{ project: string; open: number }>();
  useEffect(() => {
    if (!live) return;
    const stream = new EventSource(`/v1/projects/${project}/events?topics=flags`);
    stream.addEventListener("flags", (e) => {
      const { open } = parseJSON((e as MessageEvent<string>).data) as Schemas["FlagsLook"];
      setHeard({ project, open: Number(open) });
    });
    return () => stream.close();
  }, [project, live]);
  return heard?.project === project ? heard.open : undefined;
}
