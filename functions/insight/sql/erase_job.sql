-- The last of a job, with its few aggregations and its archive, whose results were taken off when they left the database.
with gone as (
    delete from jobs where id = $1 and state = 'deleting' returning id, shards_total, event_seq
),
noted as (
    update deleted_jobs d set erased_at = now() from gone where d.id = gone.id
)
select case when exists (select from archives c where c.job_id = gone.id and c.state in ('removing', 'archived')) then 0 else shards_total end as results,
    event_seq as events from gone
