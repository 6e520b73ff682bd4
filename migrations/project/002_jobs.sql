create table jobs (
    id               uuid primary key,
    function_id      uuid not null references functions,
    function_version integer not null,
    partition        jsonb not null,
    policy           jsonb not null,
    aggregator       jsonb,           -- module name, digest and parameters; null: nothing is folded
    state            text not null check (state in ('splitting', 'running', 'review', 'aggregating', 'finished', 'failed', 'cancelled')),
    error            text not null default '',
    shards_total     bigint not null check (shards_total > 0),
    pages_total      bigint not null check (pages_total > 0),
    pages_folded     bigint not null default 0,
    split_next       bigint not null default 0, -- the first shard that does not exist yet: where a split that was killed goes on
    split_offset     bigint not null default 0, -- the same place as a byte offset into the items
    -- Follow-ups: the job and rule that made this one. The key makes a second run of the same rule harmless.
    parent_job       uuid references jobs,
    root_job         uuid not null,
    rule_id          uuid references rules on delete set null,
    depth            integer not null default 0 check (depth >= 0),
    followup_key     text unique,
    -- The answer.
    aggregate_value  bytea,           -- canonical JSON, or null where it is an object or there is none yet
    aggregate_object text check (aggregate_object ~ '^[0-9a-f]{64}$'),
    aggregate_count  bigint,
    aggregate_summary text not null default '',
    created_by       text not null,
    created_at       timestamptz not null default now(),
    started_at       timestamptz,
    finished_at      timestamptz,
    event_seq        bigint not null default 0,
    foreign key (function_id, function_version) references function_versions
);
create index jobs_newest on jobs (id desc);
create index jobs_by_root on jobs (root_job);

-- 1,024 consecutive shards, counted by state so that progress never counts shards.
create table pages (
    job_id    uuid not null references jobs on delete cascade,
    number    bigint not null,
    open      integer not null default 0 check (open >= 0),
    accepted  integer not null default 0 check (accepted >= 0),
    review    integer not null default 0 check (review >= 0),
    failed    integer not null default 0 check (failed >= 0),
    cancelled integer not null default 0 check (cancelled >= 0),
    attempts  bigint not null default 0,
    primary key (job_id, number)
) with (fillfactor = 50);

-- No foreign key to jobs here and in attempts: it would be checked row by row, at a good part of the cost of a
-- result, and jobs are never deleted.
create table shards (
    job_id  uuid not null,
    number  bigint not null check (number >= 0),
    state   text not null default 'open' check (state in ('open', 'accepted', 'review', 'failed', 'cancelled')),
    wanted  smallint not null check (wanted >= 0),            -- further attempts to lend now
    lent    smallint not null default 0 check (lent >= 0),    -- attempts that are out, or reported and not yet weighed
    lost    smallint not null default 0,                      -- leases that died with this shard in them
    input   bytea,                                            -- the item; null where the partition computes it
    agent_id uuid,                                            -- whose output was accepted
    reasons jsonb,                                            -- why the last verdict was what it was, unless it was a plain accept
    primary key (job_id, number)
) with (fillfactor = 70);
-- The only thing that dispatch reads.
create index shards_to_lend on shards (job_id, number) where state = 'open' and wanted > 0;
create index shards_unusual on shards (job_id, state, number) where state in ('review', 'failed');

-- The deadline stands in the control schema, where one statement renews or finds leases of all projects.
create table leases (
    id         uuid primary key,
    job_id     uuid not null references jobs on delete cascade,
    agent_id   uuid not null,
    shards     bigint[] not null,
    reported   integer not null default 0,  -- how many of them have a result
    state      text not null check (state in ('open', 'closed', 'returned', 'expired', 'revoked')),
    created_at timestamptz not null default now()
) with (fillfactor = 70);
create index leases_open_by_agent on leases (agent_id, job_id) where state = 'open';
create index leases_by_job on leases (job_id);

-- Where each agent's search for shards goes on, so that it does not walk over what it has done already.
create table lease_cursors (
    job_id   uuid not null references jobs on delete cascade,
    agent_id uuid not null,
    next     bigint not null,
    primary key (job_id, agent_id)
) with (fillfactor = 50);

-- One signed post of results. The statement that was signed can be made again from the attempts.
create table submissions (
    id          uuid primary key,
    lease_id    uuid not null references leases on delete cascade,
    job_id      uuid not null,
    agent_id    uuid not null,
    shards      bigint[] not null, -- those that were new
    stated      bigint[],          -- all that the signed statement names, where it repeated some that were recorded already
    signature   bytea not null check (octet_length(signature) = 64),
    received_at timestamptz not null default now(),
    verified_at timestamptz
);
create index submissions_by_lease on submissions (lease_id);

create table attempts (
    job_id        uuid not null,
    shard         bigint not null,
    agent_id      uuid not null,
    lease_id      uuid not null,
    submission_id uuid not null,
    status        text not null check (status in ('ok', 'error', 'timeout', 'memory', 'output_limit', 'killed', 'denied')),
    output        bytea,                    -- canonical JSON bytes up to the inline limit; null: an object, or not ok
    output_digest bytea check (octet_length(output_digest) = 32),
    outcome       bytea not null check (octet_length(outcome) = 32), -- what votes: see functions/dispatch/record.go
    output_bytes  bigint not null default 0,
    cpu_us        bigint not null default 0,
    wall_us       bigint not null default 0,
    peak_rss      bigint not null default 0,
    diagnostics   jsonb,                    -- the rest of the result, where there is anything to say
    reported_at   timestamptz not null default now(),
    -- An agent never gets two attempts of one shard.
    primary key (job_id, shard, agent_id)
);

-- Evidence for and against an agent in this project.
create table trust (
    agent_id   uuid primary key,
    passed     bigint not null default 0,
    failed     bigint not null default 0,
    caught_at  timestamptz,
    reason     text not null default '',
    updated_at timestamptz not null default now()
) with (fillfactor = 50);

-- Folds of accepted results: level 0 is one page, each level above merges the one below in fixed order.
create table partials (
    job_id  uuid not null references jobs on delete cascade,
    level   integer not null,
    number  bigint not null,
    count   bigint not null,
    data    bytea, -- null where nothing was accepted, or nothing is folded
    made_at timestamptz not null default now(),
    primary key (job_id, level, number)
);

create table flags (
    id          uuid primary key,
    job_id      uuid references jobs on delete cascade,
    shard       bigint,
    agent_id    uuid,
    kind        text not null,
    detail      jsonb not null default '{}',
    created_at  timestamptz not null default now(),
    resolved_at timestamptz,
    resolution  text not null default ''
);
create index flags_by_job on flags (job_id, id);

-- What happened to a job, numbered without gaps under the job's row lock, so that a reader can resume at any number.
create table events (
    job_id uuid not null references jobs on delete cascade,
    seq    bigint not null,
    at     timestamptz not null default now(),
    type   text not null,
    data   jsonb not null default '{}',
    primary key (job_id, seq)
);
