-- What the server has run modules for. Batches that ended well are counted, one row for each job, aggregation, module and phase: a
-- million shards are a thousand batches. A batch that failed has a row of its own.
create table module_runs (
    id            uuid primary key,
    module        text not null,
    version       integer,              -- null: built in
    digest        text not null check (digest ~ '^[0-9a-f]{64}$'),
    kind          text not null,
    phase         text not null,
    job_id        uuid references jobs on delete cascade,
    aggregation   integer,              -- of the job
    step          text not null default '' check (length(step) <= 200), -- of a batch that failed: what it was run for
    class         text not null default 'ok',
    times         bigint not null default 1 check (times > 0), -- batches that this row counts
    started_at    timestamptz not null, -- of the first
    ended_at      timestamptz not null, -- of the last
    wall_ns       bigint not null,      -- of all, as are the counts below
    fuel          bigint not null,
    fuel_most     bigint not null,      -- of any one of them
    memory        bigint not null,      -- bytes, the most of any one of them
    in_lines      bigint not null,
    in_bytes      bigint not null,
    out_lines     bigint not null,
    out_bytes     bigint not null,
    exit_code     bigint not null default 0,
    message       text not null default '' check (length(message) <= 8192),
    hint          text not null default '' check (length(hint) <= 8192),
    trap          text not null default '' check (length(trap) <= 8192),
    frames        text[] not null default '{}',
    stderr        text not null default '' check (length(stderr) <= 65536),
    input         text check (input ~ '^[0-9a-f]{64}$'), -- the whole batch, an object
    input_bytes   bigint,
    input_missing text not null default '' check (length(input_missing) <= 8192) -- why there is none
) with (fillfactor = 70);
create index on module_runs (module, id);
create unique index module_runs_counted on module_runs (job_id, aggregation, module, digest, phase) nulls not distinct where class = 'ok';
