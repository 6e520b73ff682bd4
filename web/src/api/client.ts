import createClient, { type Middleware } from "openapi-fetch";

import { heard } from "../lib/build";
import { parseJSON } from "./json";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
/** A problem that a server tells of, or that the page found itself: its code is then none of the API's. */
export type Problem = Omit<Schemas["Problem"], "code"> & { code: string };

/** What the server answered when it did not do what was asked. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/** What becomes of a request that no server answered. */
function unreachable(cause: unknown): ProblemError {
  return new ProblemError({
    type: "about:blank", title: "No answer", status: 0, code: "unreachable", request_id: "",
    detail: `the server did not answer: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "see whether it runs and whether this machine reaches it; the page tries again by itself",
  });
}

const exact: Middleware = {
  async onResponse({ response }) {
    heard(response.headers);
    if (response.status === 204 || !/json/.test(response.headers.get("Content-Type") ?? "")) return undefined;
    const text = await response.text();
    const copy = new Response(text, { status: response.status, headers: { ...Object.fromEntries(response.headers), "Content-Length": String(text.length) } });
    copy.json = () => Promise.resolve(parseJSON(text));
    return copy;
  },
  onError({ error }) {
    return unreachable(error);
  },
};

export const api = createClient<paths>({ baseUrl: "", credentials: "same-origin" });
api.use(exact);

/** Returns what came back, or throws the problem. */
export async function must<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  if (error && typeof error === "object" && "code" in error) throw new ProblemError(error as Problem);
  throw new ProblemError({
    type: "about:blank", title: response.statusText || "Error", status: response.status, code: "unknown", request_id: response.headers.get("X-Request-Id") ?? "",
    detail: `the server answered ${response.status} and did not say why`, hint: "see the server's log",
  });
}
