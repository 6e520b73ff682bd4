select number / $4::bigint as page, array_agg(coalesce(case when state = 'accepted' then agent_id end, '00000000-0000-0000-0000-000000000000'::uuid) order by number) as values
from shards where job_id = $1 and number >= $2 and number < $3 group by 1 order by 1
