-- How many seconds a day servers execute a project's shards at most; 0: what the server says.
alter table projects add column recheck_seconds bigint not null default 0 check (recheck_seconds >= 0);

-- What they have spent for it on each day (UTC).
create table recheck_spent (
    project_id uuid not null references projects on delete cascade,
    day        date not null,
    seconds    double precision not null,
    primary key (project_id, day)
);
