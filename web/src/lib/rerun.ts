import type { Schemas } from "../api/client";

/** More than this is for an owner to give. */
export const usualPriority = 5;

/** Asks for what a job was, as `ostraka job rerun` does: where nothing was asked for that is said, too, since the function's newest version may say otherwise. */
export function sameAgain(old: Schemas["Job"]): Schemas["JobRequest"] {
  const { none, quorum, target_error, answer_error, assume_hostile, recheck, max_attempts, confirm } = old.policy;
  const bound = answer_error ? { answer_error } : { target_error, recheck: recheck || undefined }; // how an answer's error is kept is chosen again
  return {
    function: old.function, version: old.version, partition: old.partition, rerun_of: old.id, priority: Math.min(old.priority, usualPriority),
    policy: { none, quorum, assume_hostile, max_attempts, confirm, ...bound } as Schemas["PolicyRequest"],
    validator: old.validator ? { module: old.validator.module, params: old.validator.params, certificate: old.validator.certificate } : { module: "none" },
    aggregator: old.aggregator ? { module: old.aggregator.module, params: old.aggregator.params } : { module: "none" },
    heuristics: { use: (old.heuristics ?? []).map((h) => ({ module: h.module, on: "results" as const, params: h.params, rules: h.rules })) }, // those of the project come with it
  };
}
