update controls c set state = v.state
from unnest($2::bigint[], $3::text[]) as v (place, state)
where c.job_id = $1 and c.place = v.place and (c.state = 'waiting' or c.state = 'right' and v.state = 'wrong')
