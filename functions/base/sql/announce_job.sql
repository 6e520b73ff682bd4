-- Where a webhook wants it. Whoever wants to know more asks the API.
insert into webhook_events (id, kind, job_id, data)
select $1, $2::text, j.id, jsonb_build_object(
    'project', $4::uuid, 'job', j.id, 'function', f.name, 'version', j.function_version, 'state', j.state, 'error', left(j.error, 500),
    'url', '/v1/projects/' || $4::uuid || '/jobs/' || j.id, 'created_at', j.created_at, 'finished_at', j.finished_at,
    'shards', jsonb_build_object('total', j.shards_total, 'accepted', p.accepted, 'failed', p.failed, 'attempts', p.attempts)
) || case when $2::text = 'job.finished' then jsonb_build_object('metrics_url', '/v1/projects/' || $4::uuid || '/jobs/' || j.id || '/metrics') else '{}' end
from jobs j join functions f on f.id = j.function_id
cross join lateral (
    select coalesce(sum(accepted), 0) as accepted, coalesce(sum(failed), 0) as failed, coalesce(sum(attempts), 0) as attempts from pages where job_id = j.id
) p
where j.id = $3 and exists (select from webhooks where not paused and $2::text = any (kinds))
