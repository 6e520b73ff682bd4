-- Functions whose shards may take long are executed again in a lane of their own, so that others do not wait for them.
alter table rechecks add column long boolean not null default false;
alter table recheck_batches add column long boolean not null default false;
create index rechecks_by_lane on rechecks (long, asked_at, job_id, shard) where batch is null;
drop index rechecks_waiting;

-- When the server last had results of its own, in each lane. Where it has had none for long, agents are asked in its place.
create table recheck_progress (
    long boolean primary key,
    at   timestamptz not null default now()
);
