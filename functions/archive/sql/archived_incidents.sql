select jsonb_build_object('id', id, 'agent', agent_id, 'shards', shards, 'job_state', job_state, 'reason', reason, 'created_at', created_at)
from incidents where job_id = $1 order by id limit $2
