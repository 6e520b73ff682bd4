-- Jobs are deleted page by page: the row of a job that is being deleted stays until nothing else of it is left.
alter table jobs
    drop constraint jobs_state_check,
    add constraint jobs_state_check check (state in ('splitting', 'running', 'review', 'held', 'aggregating', 'finished', 'failed', 'cancelled', 'deleting')),
    drop constraint jobs_parent_job_fkey; -- a follow-up outlives the job that it follows
-- What is known of a job that was deleted: who did it, and what other jobs need of it.
create table deleted_jobs (
    id             uuid primary key,
    deleted_by     text not null,
    deleted_at     timestamptz not null default now(),
    erased_at      timestamptz,              -- null: something of it is still there
    rerun_of       uuid,
    root_job       uuid not null,
    parent_job     uuid,
    followup_key   text unique,              -- no rule makes it once more, and it counts among the follow-ups of its root
    suspect_agents uuid[] not null default '{}', -- who had incidents in it: they have no part in jobs that run it again
    suspect_owners text[] not null default '{}'  -- of these agents, in the same order; empty: none
);
create index deleted_jobs_by_root on deleted_jobs (root_job) where followup_key is not null;
-- By what a job's rows are found that no key begins with it.
create index module_runs_by_job on module_runs (job_id) where job_id is not null;
create index incidents_by_job on incidents (job_id);
create index wrong_alike_by_job on wrong_alike (job_id);
create index unsteady_shards_by_job on unsteady_shards (job_id);
