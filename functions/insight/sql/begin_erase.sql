-- The job, which the caller has locked, is being deleted from now on.
with gone as (
    update jobs set state = 'deleting' where id = $1 returning id, rerun_of, root_job, parent_job, followup_key
)
insert into deleted_jobs (id, deleted_by, rerun_of, root_job, parent_job, followup_key)
select id, $2, rerun_of, root_job, parent_job, followup_key from gone
on conflict (id) do update set deleted_by = excluded.deleted_by, deleted_at = now(), erased_at = null -- it was imported after it had been deleted
