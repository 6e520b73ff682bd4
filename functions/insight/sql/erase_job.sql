-- The last of a job, with its few aggregations.
with gone as (
    delete from jobs where id = $1 and state = 'deleting' returning id, shards_total, event_seq
),
noted as (
    update deleted_jobs d set erased_at = now() from gone where d.id = gone.id
)
select shards_total as results, event_seq as events from gone
