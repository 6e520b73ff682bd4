import { parseJSON } from "./json";
import { ProblemError, type Problem } from "./client";
import { heard } from "../lib/build";

/** As whom this browser is signed in. */
export interface Identity {
  role: "owner" | "submitter" | "viewer" | "reviewer" | "auditor" | "operator" | "agent";
  project?: string;
  key_id?: string;
  subject?: string;
  session?: string;
}

async function ask(method: string, secret?: string): Promise<Identity | undefined> {
  const response = await fetch("/v1/session", { method, headers: secret ? { Authorization: `Bearer ${secret}` } : {}, credentials: "same-origin" });
  heard(response.headers);
  const text = await response.text();
  if (!response.ok) throw new ProblemError(parseJSON(text) as Problem);
  return text ? (parseJSON(text) as Identity) : undefined;
}

/** Who is signed in; undefined when nobody is. */
export async function whoAmI(): Promise<Identity | null> {
  try {
    return (await ask("GET")) ?? null;
  } catch (e) {
    if (e instanceof ProblemError && (e.problem.status === 401 || e.problem.status === 403)) return null;
    throw e;
  }
}

/** Exchanges a key, or the secret of a sign-in link, for a cookie. */
export const signIn = (secret: string) => ask("POST", secret);

export const signOut = () => ask("DELETE");
