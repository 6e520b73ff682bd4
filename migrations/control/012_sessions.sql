-- Who is signed in to the portal. A session is opened with a key, whose role and end it has, or with an identity that somebody else
-- vouches for; then role, project_id and subject stand here.
create table sessions (
    id            uuid primary key,
    key_id        uuid references api_keys on delete cascade,
    role          text check (role in ('owner', 'submitter', 'viewer', 'operator')),
    project_id    uuid references projects on delete cascade,
    subject       text check (length(subject) between 1 and 500),
    -- As with keys: only a digest of 256 random bits.
    secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
    user_agent    text not null check (length(user_agent) <= 200), -- of the browser, so that people know their sessions apart
    created_at    timestamptz not null default now(),
    seen_at       timestamptz not null default now(),
    revoked_at    timestamptz,
    check (case when key_id is null
        then subject is not null and role is not null and (role = 'operator') = (project_id is null)
        else subject is null and role is null and project_id is null
    end)
);
create index sessions_by_key on sessions (key_id, id) where key_id is not null;
create index sessions_by_subject on sessions (subject, id) where subject is not null;
create index sessions_by_project on sessions (project_id) where project_id is not null;
create index sessions_by_age on sessions (created_at);

-- Links that sign a browser in, once.
create table sign_in_links (
    secret_sha256 bytea primary key check (octet_length(secret_sha256) = 32),
    key_id        uuid not null references api_keys on delete cascade,
    created_at    timestamptz not null default now()
);
create index sign_in_links_by_key on sign_in_links (key_id);
create index sign_in_links_by_age on sign_in_links (created_at);
