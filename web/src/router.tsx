import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";

import { queries } from "./api/queries";
import { sessionQuery } from "./api/reads";
import { JobPage } from "./pages/job";
import { JobsPage } from "./pages/jobs";
import { SignInPage } from "./pages/sign-in";
import { Missing, Root, Signed } from "./ui/shell";

/** The search of an address is text and stays text: a parser of JSON would round integers beyond 2^53. */
export type Search = Record<string, string | undefined>;

const root = createRootRouteWithContext()({ component: Root, notFoundComponent: Missing, validateSearch: (s: Record<string, unknown>): Search => s as Search });

const signIn = createRoute({ getParentRoute: () => root, path: "/sign-in", component: SignInPage });

const signed = createRoute({
  getParentRoute: () => root,
  id: "signed",
  component: Signed,
  beforeLoad: async ({ location }) => {
    const who = await queries.ensureQueryData(sessionQuery);
    if (!who) throw redirect({ to: "/sign-in", search: { to: location.href } });
  },
});

const home = createRoute({
  getParentRoute: () => signed,
  path: "/",
  beforeLoad: async () => {
    const who = await queries.ensureQueryData(sessionQuery);
    if (who?.project) throw redirect({ to: "/p/$project/jobs", params: { project: who.project } });
    throw redirect({ to: "/sign-in" });
  },
});

const project = createRoute({ getParentRoute: () => signed, path: "/p/$project" });
const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/p/$project/jobs", params });
  },
});

const jobs = createRoute({ getParentRoute: () => project, path: "/jobs", component: JobsPage });
const job = createRoute({ getParentRoute: () => project, path: "/jobs/$job", component: JobPage });
const shard = createRoute({ getParentRoute: () => project, path: "/jobs/$job/shards/$shard", component: lazyRouteComponent(() => import("./pages/shard"), "ShardPage") });

const tree = root.addChildren([
  signIn,
  signed.addChildren([home, project.addChildren([projectHome, jobs, job, shard])]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(Object.entries(search as Search).filter((e): e is [string, string] => e[1] !== undefined && e[1] !== "")).toString();
    return text ? `?${text}` : "";
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
