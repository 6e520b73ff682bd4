-- What a job that has come to its answer took, measured once, some pages at a time, so that no request ever adds up all attempts of a large
-- job; and the metrics that rules, planners and readers see.
create table job_metrics (
    job_id       uuid primary key,
    next_shard   bigint not null default 0, -- up to which attempts were measured
    executions   bigint not null default 0, -- attempts, those of servers included
    cpu_us       bigint not null default 0,
    wall_us      bigint not null default 0,
    output_bytes bigint not null default 0, -- of accepted outputs
    walls        jsonb not null default '{}', -- how many attempts that gave an answer took how long, by half powers of two of a millisecond
    metrics      jsonb                      -- null until all was measured
);
