select jsonb_build_object('run', run, 'aggregator', aggregator, 'state', state, 'error', error, 'count', count, 'object', object, 'created_by', created_by, 'created_at', created_at, 'finished_at', finished_at)
from aggregations where job_id = $1 order by run limit $2
