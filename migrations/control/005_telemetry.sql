-- How agents' machines were. Both tables are rings: a minute's row takes the place of yesterday's, an hour's that of thirty days ago, so
-- that their size is bounded by the number of agents and nothing piles up to be deleted.

create table agent_samples (
    agent_id  uuid not null references agents on delete cascade,
    slot      smallint not null check (slot between 0 and 1439), -- minute of the day
    at        timestamptz not null,
    cpu       real not null,   -- percent
    load      real not null,
    memory    bigint not null, -- bytes in use
    disk      bigint not null, -- bytes in use
    sent      bigint not null, -- bytes since the machine's start
    received  bigint not null,
    sandboxes integer not null,
    battery   real,            -- percent
    primary key (agent_id, slot)
) with (fillfactor = 70);

create table agent_hours (
    agent_id      uuid not null references agents on delete cascade,
    slot          smallint not null check (slot between 0 and 719), -- hour of thirty days
    hour          timestamptz not null,
    samples       integer not null check (samples > 0),
    cpu_avg       real not null,
    cpu_max       real not null,
    load_avg      real not null,
    load_max      real not null,
    memory_avg    bigint not null,
    memory_max    bigint not null,
    disk_avg      bigint not null,
    disk_max      bigint not null,
    sent          bigint not null, -- bytes within the hour
    received      bigint not null,
    sandboxes_max integer not null,
    battery_min   real,
    primary key (agent_id, slot)
) with (fillfactor = 70);

-- The hours before this one are rolled up.
create table telemetry_done (
    only_one boolean primary key default true check (only_one),
    hour     timestamptz not null
);
