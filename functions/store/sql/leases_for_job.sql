select coalesce(sum(wanted) filter (where state = 'open'), 0)::bigint as wanted, coalesce(sum(lent), 0)::bigint as lent,
    (select count(*) from trust where caught_at is not null) as caught
from shards where job_id = $1 and (state = 'open' or lent > 0)
