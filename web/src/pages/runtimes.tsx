import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";

import { api, must } from "../api/client";
import { bytes, digits } from "../lib/format";
import { AsCalls, Id, visible, When } from "../ui/bits";
import { Card, Loaded, Nothing } from "../ui/panel";
import ui from "../ui/ui.module.css";
import { curl } from "./common";

export function RuntimesPage() {
  const { project } = useParams({ from: "/signed/p/$project/runtimes" });
  const list = useQuery({ queryKey: ["runtimes", project], queryFn: () => must(api.GET("/v1/projects/{project}/runtimes", { params: { path: { project }, query: { limit: 500 } } })) });
  return (
    <div className={ui.page}>
      <div className={ui.title}>
        <h1 className={ui.grow}>Runtimes</h1>
        <AsCalls cli="ostraka runtime list" curl={curl("GET", `/v1/projects/${project}/runtimes`)} />
      </div>
      <Card flush>
        <Loaded query={list} empty={(d) => d.items.length === 0} none={<Nothing title="No runtime of this project's own."><p>Functions run in the Python that agents carry. A runtime brings another one, with packages and native code.</p><code>ostraka runtime import --help</code></Nothing>}>
          {(d) => (
            <table className={ui.table}>
              <thead><tr><th scope="col">Runtime</th><th scope="col">Python</th><th scope="col">Platform</th><th scope="col" className={ui.num}>Size</th><th scope="col" className={ui.num}>Files</th><th scope="col">Digest</th><th scope="col">Made</th></tr></thead>
              <tbody>
                {d.items.map((r) => (
                  <tr key={r.id}>
                    <td><strong>{visible(r.name)}</strong></td><td>{visible(r.python)}</td><td>{visible(r.platform)}</td><td className={ui.num}>{bytes(r.bytes)}</td><td className={ui.num}>{digits(r.files)}</td>
                    <td><Id value={r.digest} /></td><td><When at={r.created_at} bare />, by {visible(r.created_by)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
      </Card>
    </div>
  );
}
