-- What each rule came to at the end of a job: at most one row for a rule and a job. With a planner it has what the module answered, so that the
-- step may be run again and nothing is asked, or made, twice.
create table rule_decisions (
    job_id       uuid not null,
    rule_id      uuid not null,
    rule         text not null,                -- its name then
    root_job     uuid not null,
    outcome      text not null check (outcome in ('made', 'skipped', 'planned', 'stopped', 'trying', 'failed')),
    reason       text not null default '',     -- why it was skipped, as the planner package names it
    detail       text not null default '' check (length(detail) <= 8192),
    seen         jsonb not null default '{}',  -- values that its condition names
    planner      text not null default '',     -- of a planner: the module's name
    digest       text not null default '',     -- the module that answered
    input_digest text not null default '',     -- what it was shown
    answer       bytea,                        -- the jobs that it asked for, as JSON
    said         jsonb,                        -- what it is told again in its next round
    module_run   uuid,                         -- of a batch that failed
    fuel         bigint not null default 0,
    tries        integer not null default 0,   -- how often in a row it has asked for another try
    decided_at   timestamptz not null default now(),
    primary key (job_id, rule_id)
);
create index rule_decisions_of_root on rule_decisions (root_job);
create index rule_decisions_by_day on rule_decisions (decided_at) where fuel > 0;
