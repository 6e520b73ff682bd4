-- What servers execute themselves now. A row is there before the sandbox begins and until it has ended; that of a server that died is not
-- seen any more.
create table recheck_runs (
    batch      uuid primary key,
    project_id uuid not null references projects on delete cascade,
    job_id     uuid not null,
    function   text not null,
    version    int not null,
    shards     int not null,
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
);
