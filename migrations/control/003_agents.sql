-- Agents: their states, owners, wishes and machines.

alter table agents drop constraint agents_state_check;
alter table agents
    add constraint agents_state_check check (state in ('pending', 'active', 'draining', 'quarantined', 'revoked')),
    add column state_reason  text not null default '',
    add column state_at      timestamptz not null default now(),
    -- Whose machine it is, as an operator has decided; null: the project's word in agent_projects counts. Never what the agent says.
    add column owner         text check (length(owner) between 1 and 200),
    -- The agreement that it has accepted last.
    add column eula_digest   bytea check (octet_length(eula_digest) = 32),
    -- The process that speaks with the agent's key, and when another one was found to do so as well.
    add column instance      uuid,
    add column duplicate_at  timestamptz,
    add column duplicate_address text not null default '',
    -- What its owner allows: see AgentWishes.
    add column projects      uuid[] not null default '{}', -- empty: all
    add column min_isolation text not null default 'process',
    -- The last heartbeat.
    add column host          jsonb,
    add column shards_done   bigint not null default 0,
    add column idle_code     text not null default '',
    add column idle_text     text not null default '',
    add column idle_seconds  bigint not null default 0,
    drop column telemetry;
-- Heartbeats change a row often and no column that is indexed: with room in its page nothing else is written.
alter table agents set (fillfactor = 50);
create index agents_pending on agents (created_at) where state = 'pending';

-- Which agents a project wants: those that are listed and not excluded, or, where it is open, all that are not excluded.
alter table projects
    add column agents_open   boolean not null default false,
    add column min_isolation text not null default 'process';
create index projects_open on projects (id) where agents_open;
alter table agent_projects
    add column excluded boolean not null default false,
    add column reason   text not null default '',
    -- Whose machine it is, as the project says: from the enrolment token, or from whoever admitted the agent.
    add column owner    text not null default '' check (length(owner) <= 200);
alter table enrolment_tokens
    add column owner text not null default '' check (length(owner) <= 200); -- '': the token itself stands for its owner

-- Who has accepted which agreement. The signature is the agent's, over statement.Acceptance.
create table eula_acceptances (
    agent_id    uuid not null references agents on delete cascade,
    digest      bytea not null check (octet_length(digest) = 32),
    version     text not null,
    accepted_at timestamptz not null, -- by the agent's clock, as it signed it
    received_at timestamptz not null default now(),
    address     text not null,        -- where it came from, as the server saw it
    signature   bytea not null check (octet_length(signature) = 64),
    primary key (agent_id, digest)
);

-- Each start of an agent's process that has spoken here. One that speaks after another has taken over is a second machine with a
-- copied key.
create table agent_instances (
    agent_id   uuid not null references agents on delete cascade,
    instance   uuid not null,
    started_at timestamptz not null default now(), -- when it spoke first
    address    text not null,
    primary key (agent_id, instance)
);

-- An agent as it is shown.
create view agents_shown as
select id, name, state, state_reason, state_at, coalesce(owner, '') as owner, isolation, min_isolation, projects, platform, created_at, last_seen_at,
    host, shards_done, idle_code, idle_text, idle_seconds, duplicate_at, duplicate_address, coalesce(encode(eula_digest, 'hex'), '') as eula_digest
from agents;
