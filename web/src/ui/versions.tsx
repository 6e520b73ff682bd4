import { useQuery } from "@tanstack/react-query";

import { api, must } from "../api/client";
import { useBuild } from "../lib/build";
import { plural } from "../lib/format";
import { useEvery } from "../lib/prefs";
import { visible } from "./bits";
import ui from "./ui.module.css";

/** The versions of the server, these pages and the agents, and where they are not the same. */
export function Versions() {
  const { server, portal } = useBuild();
  const versions = useQuery({ queryKey: ["versions"], queryFn: () => must(api.GET("/v1/versions")), refetchInterval: useEvery(60_000), retry: false });
  const agents = versions.data?.agents ?? [];
  const others = agents.filter((a) => a.version !== versions.data?.server);
  return (
    <details>
      <summary>{server ? `Server ${visible(server)}` : "Versions"}{others.length > 0 && ` · ${plural(others.reduce((n, a) => n + a.agents, 0), "agent")} of another version`}</summary>
      <div>Pages {portal?.slice(0, 8) ?? "–"}</div>
      {agents.map((a) => <div key={a.version}>{plural(a.agents, "agent")}: {visible(a.version)}</div>)}
    </details>
  );
}

/** Says that the server has newer pages than this one. */
export function Updated() {
  const { updated } = useBuild();
  if (!updated) return null;
  return (
    <p className={ui.row} role="status">
      The server was updated.
      <button type="button" className={`${ui.button} ${ui.small}`} onClick={() => location.reload()}>Reload this page</button>
    </p>
  );
}
