// The page asks for everything that it shows every two seconds, and puts all of it in as text: names and reasons come from strangers.

const every = 2000;
const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat();
const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function element(name, properties, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

const never = "0001-01-01T00:00:00Z";
const time = (text) => (text && text !== never ? when.format(new Date(text)) : "");
// plain shows characters that are not seen or that turn the text around, as the commands do: no stranger may have a line say something else.
const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
const plural = (n, word) => `${number.format(n)} ${word}${n === 1 ? "" : "s"}`;

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; n >= 1024 && at < units.length - 1; at++) n /= 1024;
  return `${at === 0 ? n : n.toFixed(1)} ${units[at]}`;
}

function duration(micros) {
  const seconds = micros / 1e6;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${number.format(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

const did = (w) => `${plural(w.shards, "shard")}, ${duration(w.cpu_us)} of processor time`;

function say(text) {
  at("message").textContent = text;
  at("message").hidden = text === "";
}

async function ask(method, path, body) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${sessionStorage.getItem("session") ?? ""}` };
  const answer = await fetch(path, { method, headers, credentials: "omit", body: body && JSON.stringify(body) });
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  let why = `${answer.status} ${answer.statusText}`;
  try {
    why = (await answer.json()).error ?? why;
  } catch {
    // it was not ours: its status says what is known
  }
  throw Object.assign(new Error(why), { status: answer.status });
}

function table(caption, heads, rows, none) {
  if (rows.length === 0) return element("p", { className: "quiet", textContent: none });
  const head = element("tr", {}, ...heads.map(([text, kind]) => element("th", { textContent: text, scope: "col", className: kind ?? "" })));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell, i) => {
    const td = element("td", { className: heads[i][1] ?? "" });
    if (heads[i][0]) td.dataset.label = heads[i][0];
    td.append(typeof cell === "string" ? plain(cell) : cell);
    return td;
  })));
  return element("table", { ariaLabel: caption }, element("thead", {}, head), element("tbody", {}, ...body));
}

function put(id, child) {
  at(id).replaceChildren(child);
}

function showNow(s) {
  at("code").textContent = s.code;
  at("code").className = s.running && s.code === "working" ? "working" : "";
  at("why").textContent = plain(s.why);
  at("since").textContent = s.running ? `since ${time(s.since)}` : "";
  const paused = s.code === "paused" || s.why.includes("paused by the owner");
  for (const id of ["pause", "finish"]) at(id).disabled = paused;
  at("resume").disabled = !paused && s.running;
  put("runs", table("What runs now", [["Function"], ["For project"], ["Since"], ["Shards", "short"]], (s.running ? (s.now ?? []) : []).map((r) => {
    const done = element("progress", { className: "bar", max: r.shards, value: r.executed, ariaLabel: `${r.executed} of ${r.shards} shards` });
    const cell = element("span", {}, done, ` ${number.format(r.executed)} of ${number.format(r.shards)}`);
    return [`${r.function} version ${r.version}`, r.project, time(r.since), cell];
  }), "Nothing runs now."));
}

function showHistory(s) {
  at("today").textContent = did(s.today);
  at("month").textContent = did(s.month);
  at("spool").textContent = s.status.spool_bytes > 0 ? `${bytes(s.status.spool_bytes)} of results` : "nothing";
  put("history", table("What it did, by day", [["Day", "short"], ["Function"], ["For project"], ["Shards", "number"], ["Failed", "number"], ["Processor time", "number"], ["Outputs", "number"]],
    (s.history ?? []).map((e) => [e.day, e.version ? `${e.function} version ${e.version}` : e.function, e.version ? e.project : "", number.format(e.shards), number.format(e.failed),
      duration(e.cpu_us), bytes(e.output_bytes)]), "Nothing yet. What it does is kept here for 90 days."));
  if (s.history_cut) at("history").append(element("p", { className: "quiet", textContent: "There is more: ostraka agent history shows all." }));
}

function showRefused(s) {
  put("refused", table("What it refused", [["When"], ["Function"], ["For project"], ["Why"]],
    (s.refused ?? []).map((r) => [time(r.at), `${r.function} version ${r.version}`, r.project, `${r.text} (${r.code})`]), "Nothing since it was started."));
}

function showFacts(s) {
  const { status, agreement } = s;
  const h = status.host ?? {};
  const facts = [
    ["Agent", `${status.name ?? ""} ${status.agent}`], ["Server", status.server], ["Isolation", status.isolation], ["Version", status.version],
    ["Processors", h.cpus ? `${h.cpus}, ${Math.round(h.cpu_percent)} % busy, ${Math.round(h.agent_cpu_percent)} % by the agent` : ""],
    ["Memory free", h.memory_total_bytes ? `${bytes(h.memory_free_bytes)} of ${bytes(h.memory_total_bytes)}` : ""],
    ["Disk free", h.disk_total_bytes ? `${bytes(h.disk_free_bytes)} of ${bytes(h.disk_total_bytes)}` : ""],
    ["Agreement", agreement.version ? `version ${agreement.version}, accepted on ${time(agreement.accepted_at)}` : "not accepted here"],
    ["Written", time(status.written_at)],
  ];
  at("facts").replaceChildren(...facts.filter(([, text]) => text).flatMap(([name, text]) => [element("dt", { textContent: name }), element("dd", { textContent: plain(text) })]));
}

// preferences are drawn again only when they have changed, so that what somebody types stays.
let drawn = "";

function showPreferences(s) {
  at("mistake").hidden = !s.mistake && !s.status.preferences_problem;
  at("mistake").textContent = s.mistake ? `The file has a mistake: mend it with ostraka agent prefs edit.\n${s.mistake}` : `NOT IN FORCE: ${s.status.preferences_problem ?? ""}`;
  const now = JSON.stringify(s.preferences ?? []);
  if (now === drawn) return;
  drawn = now;
  put("preferences", table("Preferences", [["Preference"], ["Meaning"], ["Value"], [""]], (s.preferences ?? []).map(preference), ""));
}

function preference(p) {
  if (p.by_hand) return [p.name, p.about, element("span", { textContent: p.value || "none" }), element("code", { textContent: "ostraka agent prefs edit" })];
  const value = element("input", { value: p.value, placeholder: p.example, ariaLabel: `${p.name}: ${p.about}`, spellcheck: false });
  const set = element("button", { type: "submit", textContent: "Set", ariaLabel: `Set ${p.name}` });
  const unset = element("button", { type: "button", textContent: "Unset", ariaLabel: `Unset ${p.name}`, disabled: !p.is_set });
  const form = element("form", { className: "row", id: `set-${p.name}` }, set, unset);
  value.setAttribute("form", form.id);
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    change("/preference", { name: p.name, value: value.value });
  });
  unset.addEventListener("click", () => change("/preference", { name: p.name, value: null }));
  return [element("strong", { textContent: p.name }), p.about, value, form];
}

async function change(path, body) {
  try {
    await ask("POST", path, body);
    say("");
    drawn = "";
  } catch (e) {
    say(e.message);
    return;
  }
  await refresh();
}

async function refresh() {
  try {
    const s = await ask("GET", "/state");
    showNow(s.status);
    showHistory(s);
    showRefused(s.status);
    showPreferences(s);
    showFacts(s);
    at("main").hidden = false;
    at("live").textContent = s.status.running ? "The agent runs." : "The agent does not run.";
    if (at("live").dataset.away) say("");
    delete at("live").dataset.away;
  } catch (e) {
    at("live").dataset.away = "yes";
    at("live").textContent = e.status === 401 ? "" : "Out of date.";
    say(e.status ? e.message : "ostraka agent open has ended: start it again to go on.");
  }
}

async function signIn() {
  const token = location.hash.slice(1);
  if (token === "") return;
  history.replaceState(null, "", "/"); // the token is of no use any more, and nothing should keep it
  try {
    sessionStorage.setItem("session", (await ask("POST", "/session", { token })).session); // of this tab and this port alone
  } catch (e) {
    say(e.message);
  }
}

const rest = (finish) => change("/pause", { reason: at("reason").value, finish, minutes: Number(at("minutes").value) });
at("pause").addEventListener("click", () => rest(false));
at("finish").addEventListener("click", () => rest(true));
at("resume").addEventListener("click", () => change("/resume"));
at("rest").addEventListener("submit", (e) => e.preventDefault());
await signIn();
await refresh();
setInterval(() => {
  if (!document.hidden) refresh();
}, every);
