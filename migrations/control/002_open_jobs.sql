-- The dispatch index: the jobs that have, or may have, shards to lend. It lets a lease find work without looking into every project.
create table open_jobs (
    job_id        uuid primary key,
    project_id    uuid not null references projects on delete cascade,
    min_isolation text not null,
    created_at    timestamptz not null
);
create index open_jobs_by_project on open_jobs (project_id, created_at);
