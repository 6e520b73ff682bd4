-- The control schema: what is shared by all projects. The migrator sets the search path to it.

create table projects (
    id                uuid primary key,
    name              text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    followups_enabled boolean not null default true,
    revision          bigint not null default 1, -- the ETag of the document that people edit
    created_at        timestamptz not null default now()
);

-- An agent is known by its key; which projects lend it work stands in agent_projects.
create table agents (
    id           uuid primary key,
    public_key   bytea not null unique check (octet_length(public_key) = 32),
    name         text not null check (length(name) between 1 and 200),
    state        text not null check (state in ('pending', 'active', 'revoked')),
    isolation    text not null,
    platform     jsonb not null,
    telemetry    jsonb,
    created_at   timestamptz not null default now(),
    last_seen_at timestamptz
);

create table agent_projects (
    agent_id   uuid not null references agents on delete cascade,
    project_id uuid not null references projects on delete cascade,
    created_at timestamptz not null default now(),
    primary key (agent_id, project_id)
);
create index agent_projects_by_project on agent_projects (project_id);

create table api_keys (
    id            uuid primary key,
    role          text not null check (role in ('owner', 'submitter', 'viewer', 'operator', 'agent')),
    project_id    uuid references projects on delete cascade,
    agent_id      uuid references agents on delete cascade,
    name          text not null check (length(name) between 1 and 200),
    -- Only a digest of the secret is kept. The secret has 256 random bits, so that a slow hash would protect nothing more.
    secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
    created_at    timestamptz not null default now(),
    expires_at    timestamptz,
    revoked_at    timestamptz,
    check (case role
        when 'operator' then project_id is null and agent_id is null
        when 'agent' then project_id is null and agent_id is not null
        else project_id is not null and agent_id is null
    end)
);
create index api_keys_by_project on api_keys (project_id, id);

create table enrolment_tokens (
    id           uuid primary key,
    project_id   uuid not null references projects on delete cascade,
    name         text not null check (length(name) between 1 and 200),
    token_sha256 bytea not null unique check (octet_length(token_sha256) = 32),
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    revoked_at   timestamptz
);
create index enrolment_tokens_by_project on enrolment_tokens (project_id, id);

-- What the first request with an Idempotency-Key made, so that the second finds it. The scope is the project, or the nil UUID.
create table idempotency_keys (
    scope          uuid not null,
    operation      text not null,
    key            text not null check (length(key) between 1 and 255),
    request_sha256 bytea not null check (octet_length(request_sha256) = 32),
    resource_id    uuid not null,
    created_at     timestamptz not null default now(),
    primary key (scope, operation, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table server_audit (
    seq     bigint generated always as identity primary key,
    at      timestamptz not null default now(),
    actor   text not null,
    action  text not null,
    subject text not null,
    detail  jsonb not null default '{}'
);
