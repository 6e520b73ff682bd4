-- All that was flagged, as the document of the archive says it.
select jsonb_build_object('id', id, 'kind', kind, 'shard', shard, 'agent', agent_id, 'detail', detail, 'created_at', created_at, 'resolved_at', resolved_at, 'resolution', resolution)
from flags where job_id = $1 order by id limit $2
