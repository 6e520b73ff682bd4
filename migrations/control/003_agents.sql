-- Agents: their states, owners, wishes and machines.

alter table agents drop constraint agents_state_check;
alter table agents
    add constraint agents_state_check check (state in ('pending', 'active', 'draining', 'quarantined', 'revoked')),
    add column state_reason  text not null default '',
    add column state_at      timestamptz not null default now(),
    -- What its owner allows: see AgentWishes.
    add column projects      uuid[] not null default '{}', -- empty: all
    add column min_isolation text not null default 'process',
    -- The last heartbeat.
    add column host          jsonb,
    add column shards_done   bigint not null default 0,
    add column idle_code     text not null default '',
    add column idle_text     text not null default '',
    drop column telemetry;
-- Heartbeats change a row often and no column that is indexed: with room in its page nothing else is written.
alter table agents set (fillfactor = 50);
