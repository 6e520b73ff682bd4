-- A rolling step of a run goes through its range job by job. It has a row here from when it begins on.
create table workflow_rolling (
    run_id       uuid not null,
    number       integer not null,
    first        numeric not null,        -- the range is [first, until)
    until        numeric not null,
    size         numeric not null,        -- integers of a shard
    shards       bigint not null,         -- of a job
    ahead        bigint not null,         -- shards that jobs which have not ended have together, at most
    next         numeric not null,        -- from here on there was no job yet
    aggregator   jsonb,                   -- what the answers are folded with; null: nothing was folded yet, or the jobs have none
    answer       bytea,                   -- over all below the front
    answer_count bigint not null default 0,
    folded       bigint not null default 0, -- jobs whose answers are folded
    lost         bigint not null default 0, -- jobs that came to nothing, those included that were made anew since
    marks        jsonb not null default '[]',
    waits        text not null default '',  -- for room in which quota the next job waits
    primary key (run_id, number),
    foreign key (run_id, number) references workflow_run_steps on delete cascade
);

-- Stretches of a rolling step's range. Those that are done and touch one another are one, so that there are as many as jobs that are open or
-- came to nothing, however far the step has come.
create table workflow_parts (
    run_id  uuid not null,
    number  integer not null,
    first   numeric not null,
    last    numeric not null,
    state   text not null check (state in ('open', 'hole', 'again', 'done')),
    job_id  uuid,                    -- null: it is done, its job was deleted, or could not be submitted
    shards  bigint not null,
    count   bigint not null default 0, -- results that are folded
    partial bytea,                   -- the fold of what is done; null where nothing is, or nothing was to be folded
    error   text not null default '',
    primary key (run_id, number, first),
    foreign key (run_id, number) references workflow_rolling on delete cascade
);

create index workflow_parts_job on workflow_parts (job_id) where job_id is not null;
