import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, must } from "../api/client";
import { sessionQuery } from "../api/reads";
import { Ask, AsCalls, Id, visible, When } from "../ui/bits";
import { Card, More, Trouble } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { curl } from "./common";

/** Where people are signed in: operators see all, owners those of their project, others their own. */
export function Sessions() {
  const { data: who } = useQuery(sessionQuery);
  const client = useQueryClient();
  const sessions = useInfiniteQuery({
    queryKey: ["sessions"],
    queryFn: ({ pageParam }) => must(api.GET("/v1/sessions", { params: { query: { limit: 100, cursor: pageParam || undefined } } })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
  });
  const items = sessions.data?.pages.flatMap((p) => p.items) ?? [];
  const end = (id: string) => async () => {
    await must(api.DELETE("/v1/sessions/{session}", { params: { path: { session: id } } }));
    await client.invalidateQueries({ queryKey: id === who?.session ? sessionQuery.queryKey : ["sessions"] });
  };
  return (
    <Card title="Sessions of browsers" flush aside={<AsCalls label="Sessions as curl" cli="ostraka open" curl={`${curl("GET", "/v1/sessions")}\n${curl("DELETE", "/v1/sessions/SESSION")}`} />}>
      {sessions.error && <Trouble error={sessions.error} retry={() => void sessions.refetch()} />}
      {!sessions.data && !sessions.error && <div className={ui.skeleton} style={{ height: 120 }} role="status" aria-label="Loading" />}
      {items.length > 0 && (
        <table className={ui.table}>
          <thead><tr><th scope="col">Who</th><th scope="col">Role</th><th scope="col">Browser</th><th scope="col">Opened</th><th scope="col">Used</th><th scope="col">Ends</th><th scope="col">Actions</th></tr></thead>
          <tbody>
            {items.map((s) => (
              <tr key={s.id}>
                <td>{visible(s.name)} <Id value={s.id} /></td>
                <td>{s.role}</td>
                <td className={ui.muted}>{visible(s.user_agent).slice(0, 120)}</td>
                <td><When at={s.created_at} bare /></td>
                <td><When at={s.seen_at} bare /></td>
                <td><When at={s.expires_at} bare /></td>
                <td>{s.id === who?.session ? "this one" : <Ask label="End…" title={`End this session of ${s.name}?`} confirm="End it" danger onConfirm={end(s.id)}>That browser is signed out with its next request. The key stays as it is.</Ask>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <More query={sessions} shown={items.length} />
    </Card>
  );
}
