-- A workflow is steps that belong together, versioned as one.
create table workflows (
    id         uuid primary key,
    name       text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    newest     integer not null,
    created_by text not null,
    created_at timestamptz not null default now()
);

-- functions says which version of which function each name of the definition stands for.
create table workflow_versions (
    workflow_id uuid not null references workflows on delete cascade,
    version     integer not null check (version > 0),
    digest      text not null check (digest ~ '^[0-9a-f]{64}$'),
    definition  text not null, -- workflow.toml as it was pushed
    functions   jsonb not null,
    pushed_by   text not null,
    pushed_at   timestamptz not null default now(),
    primary key (workflow_id, version)
);

-- A run keeps to its version, and so to the digests of all functions.
create table workflow_runs (
    id          uuid primary key,
    workflow_id uuid not null,
    version     integer not null,
    parameters  jsonb not null,
    state       text not null check (state in ('running', 'paused', 'finished', 'failed', 'cancelled')),
    error       text not null default '',
    revision    bigint not null default 1,
    started_by  text not null,
    started_at  timestamptz not null default now(),
    ended_at    timestamptz,
    waits_until timestamptz, -- for room in a quota: a step of the queue goes on with it then, and no other has to wait as well
    foreign key (workflow_id, version) references workflow_versions on delete cascade
);

create index workflow_runs_open on workflow_runs (id) where state in ('running', 'paused');
create index workflow_runs_ended on workflow_runs (ended_at) where ended_at is not null;
create index workflow_runs_version on workflow_runs (workflow_id, version);

-- The steps of a run, in the order in which they can begin. That a step has a job is what makes it submit one only.
create table workflow_run_steps (
    run_id     uuid not null references workflow_runs on delete cascade,
    number     integer not null,
    name       text not null,
    state      text not null default 'waiting' check (state in ('waiting', 'running', 'finished', 'failed', 'skipped', 'cancelled')),
    job_id     uuid,                 -- null: it has none, or it was deleted
    error      text not null default '',
    started_at timestamptz,
    ended_at   timestamptz,
    primary key (run_id, number)
);

create index workflow_run_steps_running on workflow_run_steps (run_id) where state = 'running';
create index workflow_run_steps_job on workflow_run_steps (job_id) where job_id is not null;
