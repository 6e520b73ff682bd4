-- What the guardian decides by in this project, and what waits for a person's yes. The control schema has the same tables for the rules of
-- those who run the installation (control/027).

-- The version grows with every change of rules and overrides: what was compiled of them holds as long as it stays.
create table guardian_policy (
    one       boolean primary key default true check (one),
    version   bigint not null default 0,
    four_eyes boolean not null default false -- who asked for an approval may not give it
);
insert into guardian_policy default values;

-- Every version of a rule is kept: decisions name them.
create table guardian_rules (
    name       text not null check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    version    integer not null check (version > 0),
    spec       jsonb, -- null: it was deleted
    current    boolean not null default true,
    created_by text not null,
    created_at timestamptz not null default now(),
    primary key (name, version)
);
create unique index guardian_rules_current on guardian_rules (name) where current;

-- Exceptions from rules. They end by themselves.
create table guardian_overrides (
    id         uuid primary key,
    rule       text not null,
    kinds      text[] not null default '{}', -- of operations; none: all
    subject    text not null default '',     -- empty: any
    reason     text not null,
    created_by text not null,
    created_at timestamptz not null default now(),
    until      timestamptz not null,
    ended_by   text,
    ended_at   timestamptz
);
create index guardian_overrides_in_force on guardian_overrides (until) where ended_at is null;

-- What rules ask about. An operation of the same digest passes once when it was approved.
create table guardian_approvals (
    id           uuid primary key,
    kind         text not null,
    subject      text not null,
    digest       bytea not null check (octet_length(digest) = 32),
    facts        jsonb not null,
    layer        text not null, -- of the strictest rule that asks: an operator's is for operators to answer
    rule         text not null,
    rule_version bigint not null,
    risk         text not null,
    reason       text not null,
    job          uuid, -- that waits for it
    requested_by text not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz not null,
    state        text not null default 'waiting' check (state in ('waiting', 'approved', 'denied', 'used')),
    decided_by   text,
    decided_at   timestamptz,
    why          text,
    used_at      timestamptz
);
create index guardian_approvals_by_digest on guardian_approvals (digest) where state in ('waiting', 'approved');
create index guardian_approvals_of_job on guardian_approvals (job) where job is not null;
create index guardian_approvals_waiting on guardian_approvals (id) where state = 'waiting';

create index audit_decisions on audit (seq) where action = 'guardian.decide';

-- What a job must keep to, since a rule says so.
alter table jobs add column conditions jsonb;
