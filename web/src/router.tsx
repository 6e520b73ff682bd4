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
    if (who?.project) throw redirect({ to: "/p/$project/overview", params: { project: who.project } });
    throw redirect({ to: "/system" });
  },
});

const project = createRoute({ getParentRoute: () => signed, path: "/p/$project" });
const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/p/$project/overview", params });
  },
});

const jobs = createRoute({ getParentRoute: () => project, path: "/jobs", component: JobsPage });
const job = createRoute({ getParentRoute: () => project, path: "/jobs/$job", component: JobPage });
const shard = createRoute({ getParentRoute: () => project, path: "/jobs/$job/shards/$shard", component: lazyRouteComponent(() => import("./pages/shard"), "ShardPage") });
const overview = createRoute({ getParentRoute: () => project, path: "/overview", component: lazyRouteComponent(() => import("./pages/overview"), "OverviewPage") });
const review = createRoute({ getParentRoute: () => project, path: "/review", component: lazyRouteComponent(() => import("./pages/review"), "ReviewPage") });
const flag = createRoute({ getParentRoute: () => project, path: "/review/$flag", component: lazyRouteComponent(() => import("./pages/review"), "FlagPage") });
const agents = createRoute({ getParentRoute: () => project, path: "/agents", component: lazyRouteComponent(() => import("./pages/agents"), "AgentsPage") });
const agent = createRoute({ getParentRoute: () => project, path: "/agents/$agent", component: lazyRouteComponent(() => import("./pages/agents"), "AgentPage") });
const functions = createRoute({ getParentRoute: () => project, path: "/functions", component: lazyRouteComponent(() => import("./pages/functions"), "FunctionsPage") });
const fn = createRoute({ getParentRoute: () => project, path: "/functions/$name", component: lazyRouteComponent(() => import("./pages/functions"), "FunctionPage") });
const version = createRoute({ getParentRoute: () => project, path: "/functions/$name/v/$version", component: lazyRouteComponent(() => import("./pages/functions"), "VersionPage") });
const run = createRoute({ getParentRoute: () => project, path: "/run", component: lazyRouteComponent(() => import("./pages/run"), "RunPage") });
const bpsw = createRoute({ getParentRoute: () => project, path: "/bpsw", component: lazyRouteComponent(() => import("./pages/bpsw"), "BpswPage") });
const push = createRoute({ getParentRoute: () => project, path: "/push", component: lazyRouteComponent(() => import("./pages/push"), "PushPage") });
const modules = createRoute({ getParentRoute: () => project, path: "/modules", component: lazyRouteComponent(() => import("./pages/more"), "ModulesPage") });
const moduleOf = createRoute({ getParentRoute: () => project, path: "/modules/$name", component: lazyRouteComponent(() => import("./pages/more"), "ModulePage") });
const rules = createRoute({ getParentRoute: () => project, path: "/rules", component: lazyRouteComponent(() => import("./pages/more"), "RulesPage") });
const schedules = createRoute({ getParentRoute: () => project, path: "/schedules", component: lazyRouteComponent(() => import("./pages/schedules"), "SchedulesPage") });
const schedule = createRoute({ getParentRoute: () => project, path: "/schedules/$schedule", component: lazyRouteComponent(() => import("./pages/schedules"), "SchedulePage") });
const webhooks = createRoute({ getParentRoute: () => project, path: "/webhooks", component: lazyRouteComponent(() => import("./pages/webhooks"), "WebhooksPage") });
const webhook = createRoute({ getParentRoute: () => project, path: "/webhooks/$webhook", component: lazyRouteComponent(() => import("./pages/webhooks"), "WebhookPage") });
const workflows = createRoute({ getParentRoute: () => project, path: "/workflows", component: lazyRouteComponent(() => import("./pages/workflows"), "WorkflowsPage") });
const workflow = createRoute({ getParentRoute: () => project, path: "/workflows/$name", component: lazyRouteComponent(() => import("./pages/workflows"), "WorkflowPage") });
const workflowRun = createRoute({ getParentRoute: () => project, path: "/workflow-runs/$run", component: lazyRouteComponent(() => import("./pages/workflows"), "WorkflowRunPage") });
const guardianPage = lazyRouteComponent(() => import("./pages/guardian"), "GuardianPage");
const approvalsPage = lazyRouteComponent(() => import("./pages/approvals"), "ApprovalsPage");
const guardian = createRoute({ getParentRoute: () => project, path: "/guardian", component: guardianPage });
const approvals = createRoute({ getParentRoute: () => project, path: "/approvals", component: approvalsPage });
const audit = createRoute({ getParentRoute: () => project, path: "/audit", component: lazyRouteComponent(() => import("./pages/audit"), "AuditPage") });
const guardianOfAll = createRoute({ getParentRoute: () => signed, path: "/guardian", component: guardianPage });
const approvalsOfAll = createRoute({ getParentRoute: () => signed, path: "/approvals", component: approvalsPage });
const bulksPage = lazyRouteComponent(() => import("./pages/bulk"), "BulksPage");
const bulkPage = lazyRouteComponent(() => import("./pages/bulk"), "BulkPage");
const bulks = createRoute({ getParentRoute: () => project, path: "/bulk", component: bulksPage });
const bulk = createRoute({ getParentRoute: () => project, path: "/bulk/$bulk", component: bulkPage });
const bulksOfAll = createRoute({ getParentRoute: () => signed, path: "/bulk", component: bulksPage });
const bulkOfAll = createRoute({ getParentRoute: () => signed, path: "/bulk/$bulk", component: bulkPage });
const archives = createRoute({ getParentRoute: () => project, path: "/archives", component: lazyRouteComponent(() => import("./pages/archives"), "ArchivesPage") });
const runtimes = createRoute({ getParentRoute: () => project, path: "/runtimes", component: lazyRouteComponent(() => import("./pages/runtimes"), "RuntimesPage") });
const auditOfAll = createRoute({ getParentRoute: () => signed, path: "/audit", component: lazyRouteComponent(() => import("./pages/audit"), "AuditPage") });
const settings = createRoute({ getParentRoute: () => project, path: "/settings", component: lazyRouteComponent(() => import("./pages/more"), "SettingsPage") });
const system = createRoute({ getParentRoute: () => signed, path: "/system", component: lazyRouteComponent(() => import("./pages/more"), "SystemPage") });

const tree = root.addChildren([
  signIn,
  signed.addChildren([
    home, system, guardianOfAll, approvalsOfAll, bulksOfAll, bulkOfAll, auditOfAll,
    project.addChildren([
      projectHome, overview, jobs, job, shard, review, flag, agents, agent, functions, fn, version, run, push, bpsw, modules, moduleOf, rules, schedules, schedule, workflows, workflow, workflowRun, webhooks, webhook, guardian, approvals, audit, bulks, bulk, archives, runtimes, settings,
    ]),
  ]),
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
