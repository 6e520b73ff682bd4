import type { Schemas } from "../api/client";

/** The states in which a job has come to its end: nothing of it is executed any more. */
export const endedStates: ReadonlySet<Schemas["JobState"]> = new Set<Schemas["JobState"]>(["finished", "failed", "cancelled", "deleting"]);
