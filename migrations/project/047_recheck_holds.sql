-- Jobs whose shards the server does not execute for now, since the guardian is against it. Their rechecks wait without a batch, so that those of
-- other jobs go on. A hold is over when its time is, or when rules or exceptions have changed: then the guardian is asked again.
create table recheck_holds (
    job_id           uuid primary key,
    code             text not null, -- for programs
    reason           text not null, -- for people
    since            timestamptz not null default now(),
    until            timestamptz not null,
    operator_version bigint not null, -- of the operators' rules
    project_version  bigint not null  -- of the project's
);
