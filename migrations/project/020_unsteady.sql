-- Functions that do not give one answer: whom they have charged is found, and gets back what was taken.

-- Shards to which the server itself gave two answers.
create table unsteady_shards (
    function_id      uuid not null references functions,
    function_version integer not null,
    job_id           uuid not null,
    shard            bigint not null,
    found_at         timestamptz not null default now(),
    primary key (function_id, function_version, job_id, shard)
);

-- How many audits an agent had passed since the last that failed, when one failed.
alter table trust add column since_lost bigint not null default 0;
-- How much of that failures in the job have taken.
alter table lease_cursors add column since_lost bigint not null default 0;
-- Whom a version has charged.
create index jobs_by_version on jobs (function_id, function_version);
