-- A project's own schema. The migrator runs as the project's role with this schema alone on the search path.

create table functions (
    id         uuid primary key,
    name       text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    created_at timestamptz not null default now()
);

-- Versions are immutable: the same bundle pushed again is the same version.
create table function_versions (
    function_id uuid not null references functions,
    version     integer not null check (version > 0),
    digest      text not null check (digest ~ '^[0-9a-f]{64}$'),
    size        bigint not null check (size > 0),
    manifest    jsonb not null,
    created_at  timestamptz not null default now(),
    primary key (function_id, version),
    unique (function_id, digest)
);

create table modules (
    id         uuid primary key,
    name       text not null check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    version    integer not null check (version > 0),
    kind       text not null check (kind in ('validator', 'aggregator', 'heuristic', 'planner')),
    digest     text not null check (digest ~ '^[0-9a-f]{64}$'),
    size       bigint not null check (size > 0),
    created_at timestamptz not null default now(),
    unique (name, version),
    unique (name, digest)
);

-- Rules make follow-up jobs out of finished ones; functions/planner reads the specification.
create table rules (
    id         uuid primary key,
    name       text not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    spec       jsonb not null,
    revision   bigint not null default 1,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

create table audit (
    seq     bigint generated always as identity primary key,
    at      timestamptz not null default now(),
    actor   text not null,
    action  text not null,
    subject text not null,
    detail  jsonb not null default '{}'
);
