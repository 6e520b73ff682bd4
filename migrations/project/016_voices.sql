-- Whose voices count: an agent's evidence in one job, accomplices, and evidence that fades.

-- What an agent's answers in the job came to, and how much of what speaks against it was taken back since its platform is to blame. The row
-- of the server itself has nothing but its class.
alter table lease_cursors
    add column passed         bigint not null default 0,
    add column failed         bigint not null default 0,
    add column audits_failed  bigint not null default 0,
    add column failed_excused bigint not null default 0,
    add column audits_excused bigint not null default 0;
-- The agents of one owner: none is lent a shard that another has.
create index lease_cursors_by_owner on lease_cursors (job_id, owner) where owner <> '';

alter table trust
    -- Halved every verify.HalfLife.
    add column faded_at        timestamptz not null default now(),
    -- What it had passed when it was last excused for its platform: its record begins anew there.
    add column excused_passed  bigint not null default 0,
    add column excused_audits  bigint not null default 0;
create index trust_fading on trust (faded_at);

-- Who gave the same answer to a shard that was proven wrong: two owners, or agents that have none (see functions/trust/hands.go), in the order
-- of their names.
create table wrong_alike (
    one    text not null,
    other  text not null check (one < other),
    job_id uuid not null,
    shard  bigint not null,
    at     timestamptz not null default now(),
    primary key (one, other, job_id, shard)
);
