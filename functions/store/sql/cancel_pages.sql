with some as (
    select number from pages where job_id = $1 and (open > 0 or review > 0) order by number limit $2 for update
),
ended as (
    update shards s set state = 'cancelled', wanted = 0
    from some where s.job_id = $1 and s.number >= some.number * 1024 and s.number < (some.number + 1) * 1024
      and s.state in ('open', 'review')
)
update pages p set cancelled = cancelled + open + review, open = 0, review = 0
from some where p.job_id = $1 and p.number = some.number
