-- A bulk action does one thing to many: flags or jobs of a project, or agents. What it is about was chosen when it was made, and each of it
-- is decided and recorded as if somebody had asked for it alone.
create table bulk_actions (
    id         uuid primary key,
    project_id uuid references projects on delete cascade, -- null: agents of the whole installation
    subject    text not null check (subject in ('flags', 'jobs', 'agents')),
    action     text not null,
    reason     text not null,
    filter     jsonb not null,
    principal  jsonb not null, -- whose rights it has
    created_by text not null,
    undoes     uuid,           -- the bulk action that it takes back
    turn       integer not null default 1, -- raised by each retry, so that a step of an earlier turn ends
    state      text not null default 'running' check (state in ('running', 'finished', 'cancelled')),
    detail     text not null default '', -- why it was cancelled
    total      integer not null,
    done       integer not null default 0,
    failed     integer not null default 0,
    created_at timestamptz not null default now(),
    ended_at   timestamptz
);

create index bulk_actions_by_project on bulk_actions (project_id, id);

create table bulk_items (
    bulk_id  uuid not null references bulk_actions on delete cascade,
    number   integer not null,
    item     uuid not null,
    revision bigint not null, -- of a flag, or since when an agent was in its state, as it was when it was chosen
    was      text not null,   -- the state of an agent of the installation when it was chosen
    state    text not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
    code     text not null default '',
    message  text not null default '',
    settled_at timestamptz,
    primary key (bulk_id, number)
);

create index bulk_items_by_state on bulk_items (bulk_id, state, number);

-- When a project has admitted or excluded an agent last: a newer decision than that of a bulk action is not taken back with it.
alter table agent_projects add column decided_at timestamptz not null default now();
