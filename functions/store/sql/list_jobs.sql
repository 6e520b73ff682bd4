select j.id, f.name as function_name, j.function_version, j.partition, j.policy, j.aggregator, j.state, j.error, j.shards_total, j.pages_total,
    p.open, p.accepted, p.review, p.failed, p.cancelled, p.attempts,
    j.parent_job, j.root_job, j.depth, j.aggregate_value, j.aggregate_object, j.aggregate_count, j.aggregate_summary,
    j.created_by, j.created_at, j.started_at, j.finished_at, j.event_seq
from jobs j
join functions f on f.id = j.function_id
cross join lateral (
    select coalesce(sum(open), 0)::bigint as open, coalesce(sum(accepted), 0)::bigint as accepted,
        coalesce(sum(review), 0)::bigint as review, coalesce(sum(failed), 0)::bigint as failed,
        coalesce(sum(cancelled), 0)::bigint as cancelled, coalesce(sum(attempts), 0)::bigint as attempts
    from pages where job_id = j.id
) p
where ($1::uuid is null or j.id < $1) and ($3 = '' or j.state = $3) and ($4 = '' or f.name = $4) and ($5::uuid is null or j.root_job = $5)
order by j.id desc limit $2
