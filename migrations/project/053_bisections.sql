-- A check whose identity does not hold looks for the shard where its sides differ. Its job, one after the other, is that of its step.
create table workflow_bisections (
    run_id uuid not null,
    number integer not null,
    side   integer not null check (side in (0, 1)), -- whose job is the suspect
    low    bigint not null,                         -- its shards [low, high), over which the sides differ
    high   bigint not null,
    middle bigint not null,
    phase  text not null check (phase in ('half', 'exact', 'confirm')),
    jobs   bigint not null default 0,               -- made for this search
    primary key (run_id, number),
    foreign key (run_id, number) references workflow_run_steps on delete cascade
);

-- Shards whose results were found wrong. The answer of their step is made with what they gave when they were executed once more.
create table workflow_wrong_shards (
    run_id   uuid not null,
    number   integer not null, -- of the check
    step     integer not null, -- whose shard it is
    job_id   uuid,             -- null: it was deleted, and what it gave with it
    shard    bigint not null,
    first    numeric not null, -- its input is [first, last)
    last     numeric not null,
    was      bytea,
    instead  bytea,
    agents   jsonb not null,   -- who gave the wrong result
    jobs     bigint not null,  -- that it took to find it
    found_at timestamptz not null default now(),
    primary key (run_id, step, shard),
    foreign key (run_id, number) references workflow_run_steps on delete cascade
);

create index workflow_wrong_shards_job on workflow_wrong_shards (job_id) where job_id is not null;
