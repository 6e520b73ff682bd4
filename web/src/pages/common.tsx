import { queryOptions, useQuery } from "@tanstack/react-query";

import { api, must } from "../api/client";
import { sessionQuery } from "../api/reads";
import { unpack } from "../lib/bundle";

/** What whoever is signed in may do in a project. */
export function useRights() {
  const { data: who } = useQuery(sessionQuery);
  return {
    role: who?.role, owner: who?.role === "owner", reviewer: who?.role === "reviewer", mayDecide: who?.role === "owner" || who?.role === "reviewer" || who?.role === "operator", submit: who?.role === "owner" || who?.role === "submitter", operator: who?.role === "operator", project: who?.project,
  };
}

/** The beginning of a call with curl. */
export const curl = (method: string, path: string, body?: unknown) =>
  `curl${method === "GET" ? "" : ` -X ${method}`} -H "Authorization: Bearer $OSTRAKA_KEY"${body === undefined ? "" : ` -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`} "$OSTRAKA_URL${path}"`;

/** The files of a bundle, unpacked in this browser. */
export const bundleQuery = (project: string, digest: string) =>
  queryOptions({
    queryKey: ["bundle", project, digest],
    staleTime: Infinity,
    queryFn: async () => unpack((await must(api.GET("/v1/projects/{project}/objects/{digest}", { params: { path: { project, digest } }, parseAs: "blob" }))) as unknown as Blob),
  });
