-- The module that compares a job's results: name, digest and parameters; null: only equal bytes are equal.
alter table jobs add column validator jsonb;

-- What the validator has said about the answers of shards. The answers of one class have the same representative, the answer that
-- was there first; it does not change any more. Null: the answer does not count.
create table answer_classes (
    job_id         uuid not null,
    shard          bigint not null,
    outcome        bytea not null check (octet_length(outcome) = 32),
    representative bytea check (octet_length(representative) = 32),
    matches        integer not null default 0, -- how many representatives it is equal to: more than one shows that equality is not transitive
    founded        bigint generated always as identity, -- in the order in which they were compared
    reason         text not null default '' check (length(reason) <= 4096),
    primary key (job_id, shard, outcome)
);

-- Shards whose answers the validator has failed to compare.
create table comparison_failures (
    job_id    uuid not null,
    shard     bigint not null,
    failures  integer not null check (failures >= 0),
    given_up  boolean not null default false, -- a person decides
    error     text not null check (length(error) <= 8192),
    failed_at timestamptz not null default now(),
    primary key (job_id, shard)
) with (fillfactor = 70);
