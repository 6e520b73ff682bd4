-- Names of stored objects. Names are compared byte by byte, so that a prefix is a range of the index wherever the database was made.
create table files (
    name       text collate "C" primary key check (octet_length(name) between 1 and 512),
    digest     text not null check (digest ~ '^[0-9a-f]{64}$'),
    size       bigint not null check (size >= 0),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    updated_by text not null
);

-- A manifest may name objects by their digests alone.
create index files_by_digest on files (digest);
