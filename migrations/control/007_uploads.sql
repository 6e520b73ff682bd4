-- Uploads past the server that were granted and not yet taken in. They stand here so that one statement finds those of all projects
-- that nobody came back for.
create table uploads (
    id           uuid primary key,
    project_id   uuid not null references projects on delete cascade,
    digest       text not null check (digest ~ '^[0-9a-f]{64}$'),
    size         bigint not null check (size >= 0),
    created_by   text not null,
    expires_at   timestamptz not null,
    completed_at timestamptz
);
create index uploads_by_expiry on uploads (expires_at);
create index uploads_by_project on uploads (project_id);
