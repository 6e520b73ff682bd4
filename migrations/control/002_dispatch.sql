-- The dispatch index: the jobs that have, or may have, shards to lend. It lets a lease find work without looking into every project.
create table open_jobs (
    job_id        uuid primary key,
    project_id    uuid not null references projects on delete cascade,
    min_isolation text not null,
    created_at    timestamptz not null
);
create index open_jobs_by_project on open_jobs (project_id, created_at);

-- Where each lease is, and until when it holds. The shards stand in the project's own table.
create table leases (
    id         uuid primary key,
    project_id uuid not null references projects on delete cascade,
    job_id     uuid not null,
    agent_id   uuid not null,
    deadline   timestamptz not null, -- heartbeats move it, up to the last call
    last_call  timestamptz not null,
    ended_at   timestamptz           -- kept for a day, so that a result that is sent again is answered well
) with (fillfactor = 70);
create index leases_open_by_deadline on leases (deadline) where ended_at is null;
create index leases_open_by_agent on leases (agent_id) where ended_at is null;
create index leases_ended on leases (ended_at) where ended_at is not null;

-- The servers that are alive. River jobs of a server that is not are given back at once instead of after River's own time-out.
create table servers (
    id      text primary key,
    seen_at timestamptz not null
);
