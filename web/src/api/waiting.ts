import { useQuery } from "@tanstack/react-query";

import { flagsQuery } from "./reads";
import { useStream, useUntold } from "./stream";
import { waits } from "../pages/flag-words";

/** How far the server counts what waits; one more stands for "more". */
const countedTo = 10_000;

/** How many flags of a project wait for people, and whether there are more than that: by its stream, or until that has said so by the first page of the list. */
export function useWaiting(project: string): { open: number; more: boolean } {
  const { waiting } = useStream();
  const told = waiting !== undefined;
  const flags = useQuery({ ...flagsQuery(project, { state: "open" }), enabled: !!project && !told, refetchInterval: useUntold(5000) });
  if (told) return { open: Math.min(waiting, countedTo), more: waiting > countedTo };
  return { open: flags.data?.items.filter(waits).length ?? 0, more: !!flags.data?.next_cursor };
}
