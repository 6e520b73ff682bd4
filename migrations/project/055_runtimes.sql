-- A runtime is a tree with an interpreter, packages and native code: its manifest and its pieces are objects.
create table runtimes (
    id         uuid primary key,
    name       text not null check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    digest     text not null unique check (digest ~ '^[0-9a-f]{64}$'), -- of the manifest
    platform   text not null,
    python     text not null,
    bytes      bigint not null, -- of all files
    files      bigint not null,
    pieces     bigint not null,
    created_by text not null,
    created_at timestamptz not null default now()
);

create index runtimes_name on runtimes (name, created_at);

-- Which objects a runtime is made of, its manifest included: they are kept, and agents may read them under a lease of a function in it.
create table runtime_objects (
    runtime text not null references runtimes (digest) on delete cascade,
    digest  text not null,
    primary key (runtime, digest)
);

create index runtime_objects_digest on runtime_objects (digest);
