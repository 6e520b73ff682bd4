-- Backups that were finished, for whoever asks how old the last one is. A database that was restored knows those before its own.
create table backups (
    digest         text primary key check (digest ~ '^[0-9a-f]{64}$'), -- of the manifest
    taken_at       timestamptz not null,                               -- the moment that the backup is of
    finished_at    timestamptz not null default now(),
    program        text not null,
    database_bytes bigint not null,
    objects        bigint not null,
    object_bytes   bigint not null,
    missing        bigint not null                                     -- objects that the database refers to and the store did not have
);
create index backups_by_time on backups (taken_at);
