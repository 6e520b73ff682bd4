-- What signs the events of projects' webhooks. While a secret is being replaced the old one signs as well.
create table webhook_secrets (
    webhook_id uuid primary key,
    project_id uuid not null references projects on delete cascade,
    secret     text not null,
    old_secret text,
    old_until  timestamptz
);

create index webhook_secrets_project on webhook_secrets (project_id);

-- When to look at the events and deliveries of a project. There may be any number of a project, so that nobody waits to write one.
create table webhook_looks (
    id         bigint generated always as identity primary key,
    project_id uuid not null references projects on delete cascade,
    look_at    timestamptz not null default now()
);

create index webhook_looks_at on webhook_looks (look_at);
create index webhook_looks_project on webhook_looks (project_id);
