select coalesce(sum(wanted) filter (where state = 'open'), 0)::bigint as wanted, coalesce(sum(lent), 0)::bigint as lent
from shards where job_id = $1 and (state = 'open' or lent > 0)
