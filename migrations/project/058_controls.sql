-- Shards with known answers that a job brought along, to find out who lies. Each is lent in the place of a shard, before that shard itself: an
-- agent sees the shard's number, and either the shard's own input or another one of the same shape. What is answered to a control is nobody's
-- attempt at the shard.
create table controls (
    job_id        uuid not null,
    place         bigint not null,
    input         bytea,                     -- null: the shard's own
    output        bytea,                     -- the known answer, canonical JSON; null: only its digest is known
    output_digest bytea not null check (octet_length(output_digest) = 32),
    -- waiting: its shard is lent as the control. right: the known answer was given, and no other one. wrong: another one was given as well, and
    -- is proven wrong. void: owners agree on another one, so that the known one is not believed. unsettled: nothing was found out.
    state         text not null default 'waiting' check (state in ('waiting', 'right', 'wrong', 'void', 'unsettled')),
    lost_by       text[] not null default '{}', -- whose leases died with it
    settled_at    timestamptz,
    primary key (job_id, place)
);

-- To whom controls were lent, and what they said.
create table control_loans (
    lease_id      uuid not null,
    place         bigint not null,
    job_id        uuid not null,
    agent_id      uuid not null,
    hand          text not null,             -- who is behind the agent
    class         text not null default '',  -- its platform
    reported_at   timestamptz,
    status        text,
    output        bytea,                     -- null: an object, or there is none
    output_digest bytea,
    output_bytes  bigint not null default 0,
    wall_us       bigint not null default 0,
    outcome       bytea,                     -- as of attempts
    verdict       text check (verdict in ('right', 'wrong', 'silent')), -- null: not judged yet
    contradicted  boolean not null default false, -- it is proven wrong
    charged       boolean not null default false, -- and held against the agent
    released      boolean not null default false, -- its shard may be lent again
    primary key (lease_id, place)
);
create index control_loans_by_job on control_loans (job_id, place);

-- How many controls a job brought, so that all other jobs ask for none.
alter table jobs add column controls integer not null default 0;
