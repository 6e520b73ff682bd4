-- What verification with a stated bound needs of the server: a secret for each project, and the servers that recheck.

-- Chooses which results are audited. Only the server's own role reads it: with it, audits could be foreseen. uuid_send(gen_random_uuid())
-- has 122 random bits of Postgres' strong generator.
create table project_secrets (
    project_id uuid primary key references projects on delete cascade,
    secret     bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) check (octet_length(secret) = 32)
);
insert into project_secrets (project_id) select id from projects;

-- The servers that execute shards themselves, and what keeps them from it, where something does.
create table recheckers (
    server_id     text primary key,
    level         text not null,
    image         text not null default '',
    interpreter   text not null default '',
    seen_at       timestamptz not null default now(),
    trouble       text not null default '',
    trouble_since timestamptz
);
