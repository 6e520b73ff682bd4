-- Sandboxes as agents report them, thresholds of projects, and the killswitch.

alter table projects add column monitor jsonb; -- thresholds for all of the project's sandboxes; null: none

-- What a job or a lease runs, so that a switch can name a function. Null where it was made before this migration.
alter table open_jobs add column function text, add column function_version int;
alter table leases add column function text, add column function_version int;

-- A switch that is on, or was. It holds everything, a project, or a function of a project; of all agents or of one.
create table kill_switches (
    id         uuid primary key,
    scope      text not null check (scope in ('everything', 'project', 'function')),
    agent_id   uuid references agents on delete cascade,   -- null: all agents
    project_id uuid references projects on delete cascade,
    function   text,
    version    int,                                        -- null: all versions
    reason     text not null check (length(reason) <= 500),
    on_by      text not null,
    on_at      timestamptz not null default now(),
    off_by     text,
    off_at     timestamptz,                                -- null: it is on
    check ((scope = 'everything') = (project_id is null)),
    check ((scope = 'function') = (function is not null)),
    check (version is null or function is not null)
);
create unique index kill_switches_on on kill_switches
    (scope, coalesce(agent_id::text, ''), coalesce(project_id::text, ''), coalesce(function, ''), coalesce(version, 0)) where off_at is null;
create index kill_switches_ended on kill_switches (off_at) where off_at is not null;

-- Whether a switch holds work of that function. The one place in SQL that says what a switch means.
create function holds(k kill_switches, project uuid, function text, version int) returns boolean language sql immutable as $$
    select (k).scope = 'everything'
        or (k).project_id = project and ((k).scope = 'project' or (k).function = function and ((k).version is null or (k).version = version))
$$;

-- Which agents have said that nothing of what a switch holds runs on them any more.
create table kill_confirmations (
    switch_id uuid not null references kill_switches on delete cascade,
    agent_id  uuid not null references agents on delete cascade,
    at        timestamptz not null default now(),
    primary key (switch_id, agent_id)
);

create table sandboxes (
    id            uuid primary key,                        -- given by the agent
    agent_id      uuid not null references agents on delete cascade,
    lease_id      uuid not null,
    project_id    uuid not null references projects on delete cascade,
    job_id        uuid not null,
    function      text,
    version       int,
    level         text not null,
    shard         bigint,                                  -- the one that runs now
    started_at    timestamptz not null,                    -- by the server's clock
    seen_at       timestamptz not null default now(),
    sample        jsonb,                                   -- the latest
    alerts        jsonb not null default '[]',
    ended_at      timestamptz,
    end_reason    text,
    terminate     text check (terminate in ('soft', 'force')),
    terminate_by  text,
    terminate_at  timestamptz
) with (fillfactor = 70);
create index sandboxes_by_agent on sandboxes (agent_id, id);
create index sandboxes_by_project on sandboxes (project_id, id);
create index sandboxes_by_age on sandboxes (seen_at);

-- Sandboxes as they are shown. One that no heartbeat has named since its lease ended has ended with it, whether or not its agent says so;
-- one that none has named for a minute is silent: its agent is away, or has forgotten it.
create view shown_sandboxes as
select s.id, s.agent_id as agent, a.name as agent_name, s.lease_id as lease, s.project_id as project, s.job_id as job, coalesce(s.function, '') as function,
    coalesce(s.version, 0) as version, s.level, s.shard, s.started_at, s.seen_at, s.sample, s.alerts, coalesce(s.terminate, '') as terminate,
    coalesce(s.ended_at, o.at) as ended_at,
    case when s.ended_at is not null then coalesce(s.end_reason, '') when o.at is not null then 'its lease has ended' else '' end as end_reason,
    case when coalesce(s.ended_at, o.at) is not null then 'ended' when s.seen_at < now() - interval '1 minute' then 'silent' else 'running' end as state
from sandboxes s
join agents a on a.id = s.agent_id
left join leases l on l.id = s.lease_id
cross join lateral (select case when l.id is null then s.seen_at when l.ended_at >= s.seen_at then l.ended_at end as at) o;

-- What sandboxes were like: a row a heartbeat, after an hour a row of peaks for five minutes.
create table sandbox_samples (
    sandbox_id      uuid not null references sandboxes on delete cascade,
    at              timestamptz not null default now(),
    coarse          boolean not null default false,
    cpu_percent     double precision not null,
    memory_bytes    bigint not null,
    workspace_bytes bigint not null,
    network_bytes   bigint not null,
    network         text not null,
    processes       bigint not null,
    output_bytes    bigint not null,
    primary key (sandbox_id, at)
);
create index sandbox_samples_fine on sandbox_samples (at) where not coarse;
