import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";

import css from "./shell.module.css";
import ui from "./ui.module.css";
import { jobQuery, projectQuery, sessionQuery } from "../api/reads";
import { signOut } from "../api/session";
import { StreamProvider, useProjectStream } from "../api/stream";
import { useWaiting } from "../api/waiting";
import { short } from "../lib/format";
import { endedStates } from "../lib/jobs";
import { setPrefs, useEvery, usePrefs } from "../lib/prefs";
import { sendHeld } from "../lib/pending";
import { Undo } from "../pages/review-undo";
import { QueryField } from "./query-field";
import { Updated, Versions } from "./versions";
import mark from "../mark.svg";

export function Root() {
  return <Outlet />;
}

export function Missing() {
  return (
    <main className={ui.note}>
      <h1>There is nothing at this address.</h1>
      <Link to="/">Go to the overview</Link>
    </main>
  );
}

/** What everybody who is signed in sees around a page. */
export function Signed() {
  const { data: who } = useQuery({ ...sessionQuery, refetchInterval: useEvery(60_000) });
  const navigate = useNavigate();
  const location = useLocation();
  useEffect(() => {
    if (who === null && location.pathname !== "/sign-in") void navigate({ to: "/sign-in", search: { to: location.href, ended: "1" } });
  }, [who, navigate, location.pathname, location.href]);
  const stream = useProjectStream(useProject(), useOpenJob());
  return (
    <StreamProvider value={stream}>
      <div className={css.frame}>
        <a className={css.skip} href="#main">Skip to the page</a>
        <aside className={css.side}>
          <Link to="/" className={css.brand}>
            <img src={mark} alt="" width={24} height={24} />
            Ostraka
          </Link>
          <Nav />
          <Foot />
        </aside>
        <div>
          <header className={css.head}>
            <Crumbs />
            <Find />
            <Live />
            <Look />
          </header>
          <main className={css.main} id="main" tabIndex={-1}>
            <Updated />
            <Undo />
            <Outlet />
          </main>
        </div>
      </div>
    </StreamProvider>
  );
}

/** The job of the address, unless it has ended: nothing is told of it any more. */
function useOpenJob(): string | undefined {
  const { project, job } = useParams({ strict: false });
  const { data } = useQuery({ ...jobQuery(project ?? "", job ?? ""), enabled: false });
  return data && endedStates.has(data.state) ? undefined : job;
}

/** The project of the address, or that of whoever is signed in. */
export function useProject(): string | undefined {
  const { project } = useParams({ strict: false });
  const { data: who } = useQuery(sessionQuery);
  return project ?? who?.project;
}

/** The query field, where there is a project to search. */
function Find() {
  const project = useProject();
  const { data: who } = useQuery(sessionQuery);
  return project && who && who.role !== "operator" ? <QueryField project={project} /> : null;
}

function Nav() {
  const project = useProject();
  const { data: who } = useQuery(sessionQuery);
  const { open, more } = useWaiting(project ?? "");
  if (!project || who?.role === "operator") {
    return (
      <nav className={css.nav} aria-label="Main">
        <Link to="/system">System</Link>
        <Link to="/guardian">Guardian</Link>
        <Link to="/approvals">Approvals</Link>
        <Link to="/audit">Audit log</Link>
        <Link to="/bulk">Bulk actions</Link>
      </nav>
    );
  }
  return (
    <nav className={css.nav} aria-label="Main">
      <Link to="/p/$project/overview" params={{ project }}>Overview</Link>
      <Link to="/p/$project/jobs" params={{ project }}>Jobs</Link>
      <Link to="/p/$project/review" params={{ project }}>
        Review {open > 0 && <span className={css.count} aria-label={`${open} open`}>{open}{more && "+"}</span>}
      </Link>
      <Link to="/p/$project/agents" params={{ project }}>Agents</Link>
      <Link to="/p/$project/functions" params={{ project }}>Functions</Link>
      <Link to="/p/$project/modules" params={{ project }}>Modules</Link>
      <Link to="/p/$project/runtimes" params={{ project }}>Runtimes</Link>
      <Link to="/p/$project/rules" params={{ project }}>Rules</Link>
      <Link to="/p/$project/schedules" params={{ project }}>Schedules</Link>
      <Link to="/p/$project/workflows" params={{ project }}>Workflows</Link>
      <Link to="/p/$project/webhooks" params={{ project }}>Webhooks</Link>
      <Link to="/p/$project/guardian" params={{ project }}>Guardian</Link>
      <Link to="/p/$project/approvals" params={{ project }}>Approvals</Link>
      <Link to="/p/$project/audit" params={{ project }}>Audit log</Link>
      <Link to="/p/$project/bulk" params={{ project }}>Bulk actions</Link>
      <Link to="/p/$project/archives" params={{ project }}>Archives</Link>
      <Link to="/p/$project/bpsw" params={{ project }}>BPSW search</Link>
      <Link to="/p/$project/settings" params={{ project }}>Settings</Link>
    </nav>
  );
}

function Foot() {
  const { data: who } = useQuery(sessionQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  if (!who) return null;
  const leave = async () => {
    if (!(await sendHeld())) return; // the page says what was not decided; another click signs out
    await signOut().catch(() => {});
    client.clear();
    await navigate({ to: "/sign-in" });
  };
  return (
    <div className={css.foot}>
      <span>{who.role}{who.subject ? ` · ${who.subject}` : who.key_id ? ` · key ${short(who.key_id)}` : ""}</span>
      <button
        type="button"
        className={`${ui.button} ${ui.small}`}
        onClick={() => void leave()}
      >
        Sign out
      </button>
      <Versions />
    </div>
  );
}

function Live() {
  const { live } = usePrefs();
  return (
    <button type="button" className={`${ui.button} ${css.live}`} aria-pressed={!live} onClick={() => setPrefs({ live: !live })} title={live ? "Stop pages from changing" : "Let pages change again"}>
      <i aria-hidden="true" />
      {live ? "Live" : "Paused"}
    </button>
  );
}

const themes = { system: "light", light: "dark", dark: "system" } as const;

function Look() {
  const { theme, zone } = usePrefs();
  return (
    <>
      <button type="button" className={ui.button} onClick={() => setPrefs({ theme: themes[theme] })} title="Change the colours">
        <span aria-hidden="true">{theme === "light" ? "☀" : theme === "dark" ? "☾" : "◑"}</span>
        <span className="hidden-visually">Theme: {theme}</span>
      </button>
      <button type="button" className={ui.button} onClick={() => setPrefs({ zone: zone === "utc" ? "local" : "utc" })} title="Change the time zone">
        {zone === "utc" ? "UTC" : "Local time"}
      </button>
    </>
  );
}

const nouns: Record<string, string> = {
  jobs: "Jobs", shards: "Shards", agents: "Agents", functions: "Functions", review: "Review", modules: "Modules", rules: "Rules", schedules: "Schedules", webhooks: "Webhooks", workflows: "Workflows", "workflow-runs": "Workflow runs", overview: "Overview", run: "Run", push: "Push", v: "Versions",
  settings: "Settings", system: "System", bpsw: "BPSW search", files: "Files", audit: "Audit log", bulk: "Bulk actions", archives: "Archives", runtimes: "Runtimes", guardian: "Guardian", approvals: "Approvals", sandboxes: "Sandboxes",
};
const noPage = new Set(["shards", "v", "workflow-runs"]);

/** The address as a path: each level but the last is a link. */
function Crumbs() {
  const { pathname, search } = useLocation();
  const projectID = useProject();
  const { data: who } = useQuery(sessionQuery);
  const project = useQuery({ ...projectQuery(projectID ?? ""), enabled: !!projectID && !!who });
  const parts = pathname.split("/").filter(Boolean);
  const crumbs: { to: string; text: string; linked: boolean }[] = [];
  parts.forEach((part, i) => {
    const to = `/${parts.slice(0, i + 1).join("/")}`;
    if (part === "p") return;
    const before = parts[i - 1];
    if (before === "p") crumbs.push({ to, text: project.data?.name ?? short(part), linked: true });
    else if (before === "shards") crumbs.push({ to, text: `Shard ${part}`, linked: true });
    else if (before === "v") crumbs.push({ to, text: `Version ${part}`, linked: true });
    // Below a project each second part is a name that somebody has given, whatever word it is.
    else if (parts[0] === "p" && i % 2 === 1) crumbs.push({ to, text: short(decodeURIComponent(part)), linked: true });
    else crumbs.push({ to, text: nouns[part] ?? short(decodeURIComponent(part)), linked: !noPage.has(part) });
  });
  const page = (search as { page?: string }).page;
  if (page && parts.at(-2) === "jobs") crumbs.push({ to: pathname, text: `Page ${page}`, linked: false });
  return (
    <nav aria-label="Where you are">
      <ol className={css.crumbs}>
        {crumbs.map((c, i) => (
          <li key={c.to + c.text}>
            {i === crumbs.length - 1 ? <span aria-current="page">{c.text}</span> : c.linked ? <Link to={c.to as "/"}>{c.text}</Link> : <span className={ui.muted}>{c.text}</span>}
          </li>
        ))}
      </ol>
    </nav>
  );
}
