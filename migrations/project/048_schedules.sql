-- A schedule submits a job again and again. spec is what people write: the times, and the job.
create table schedules (
    id           uuid primary key,
    name         text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    spec         jsonb not null,
    revision     bigint not null default 1,
    created_by   text not null,
    wanted_by    text not null, -- who made, replaced or resumed it last: its jobs are theirs, and they do not approve them under four eyes
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    paused       boolean not null default false,
    pause_reason text not null default '',
    next_at      timestamptz,                     -- the first time that nothing was done about; null: none comes any more
    waits        boolean not null default false,  -- next_at waits for the job of an earlier time to end
    failures     integer not null default 0,      -- times in a row that came to no job by a fault
    last_error   text not null default ''
);

-- What became of the times that have come. That a time is here is what makes it come once.
create table schedule_firings (
    schedule_id uuid not null references schedules on delete cascade,
    at          timestamptz not null, -- the time by the timetable, without its jitter; of a run by hand the moment of it
    outcome     text not null check (outcome in ('submitted', 'skipped', 'missed', 'failed')),
    by_hand     boolean not null default false,
    job_id      uuid,                 -- that was submitted; null: none, or it was deleted
    detail      text not null default '',
    fired_at    timestamptz not null default now(),
    primary key (schedule_id, at)
);

create index schedule_firings_job on schedule_firings (job_id) where job_id is not null;
