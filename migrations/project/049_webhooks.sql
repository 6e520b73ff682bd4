-- Where a project has its events posted. What signs them is in the control schema, which no project's role reads.
create table webhooks (
    id            uuid primary key,
    name          text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    url           text not null check (length(url) <= 2048),
    kinds         text[] not null check (cardinality(kinds) > 0), -- of events that it wants
    created_by    text not null,
    created_at    timestamptz not null default now(),
    paused        boolean not null default false,
    pause_reason  text not null default '',
    failing_since timestamptz,                -- since when no try has worked; null: the last one did
    last_error    text not null default '',   -- of the last try, if it failed
    delivered_at  timestamptz,                -- when a try worked last
    dropped       bigint not null default 0   -- deliveries that gave way to newer ones
);

-- What has happened, written in the transaction in which it happened, where a webhook wants it.
create table webhook_events (
    id         uuid primary key,
    kind       text not null,
    job_id     uuid,                          -- that it is about
    webhook_id uuid references webhooks on delete cascade, -- the only one that gets it: a test
    data       jsonb not null,
    at         timestamptz not null default now(),
    spread     boolean not null default false -- there is a delivery for each webhook that wants it
);

create index webhook_events_new on webhook_events (id) where not spread;
create index webhook_events_job on webhook_events (job_id) where job_id is not null;
create index webhook_events_webhook on webhook_events (webhook_id) where webhook_id is not null;
create index webhook_events_at on webhook_events (at);

-- An event on its way to one webhook.
create table webhook_deliveries (
    id         uuid primary key,
    webhook_id uuid not null references webhooks on delete cascade,
    event_id   uuid not null references webhook_events on delete cascade,
    state      text not null default 'waiting' check (state in ('waiting', 'sending', 'delivered', 'failed', 'dropped')),
    tries      integer not null default 0,
    next_at    timestamptz not null default now(), -- when the next try is due, or when this one began
    created_at timestamptz not null default now(),
    ended_at   timestamptz,
    status     integer,                       -- of the last answer; null: there was none
    error      text not null default '',      -- why the last try failed
    unique (webhook_id, event_id)
);

create index webhook_deliveries_due on webhook_deliveries (next_at, id) where state = 'waiting';
create index webhook_deliveries_open on webhook_deliveries (id) where state in ('waiting', 'sending');
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, id desc);
