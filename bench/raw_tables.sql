drop schema if exists raw cascade;
create schema raw;
create table raw.shards (
    job_id   uuid,
    number   bigint,
    state    text not null default 'open',
    wanted   smallint not null default 1,
    agent_id uuid,
    primary key (job_id, number)
);
create index on raw.shards (job_id, number) where state = 'open' and wanted > 0;
create table raw.results (
    job_id      uuid,
    shard       bigint,
    agent_id    uuid,
    status      text not null,
    output      bytea,
    digest      bytea,
    cpu_us      bigint,
    wall_us     bigint,
    peak_rss    bigint,
    reported_at timestamptz not null default now(),
    primary key (job_id, shard, agent_id)
);
insert into raw.shards (job_id, number) select '%s', n from generate_series(0, %d) n
