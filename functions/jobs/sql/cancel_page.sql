-- The first page after $3 that is not settled. Its shards are locked before the page, in the order of their numbers, as in all steps.
with page as (
    select number from pages where job_id = $1 and number > $3 and (open > 0 or review > 0) order by number limit 1
),
locked as (
    select s.number, s.state from shards s, page
    where s.job_id = $1 and s.number >= page.number * $2 and s.number < (page.number + 1) * $2 and s.state in ('open', 'review')
    order by s.number for update of s
),
ended as (
    update shards s set state = 'cancelled', wanted = 0 from locked where s.job_id = $1 and s.number = locked.number
),
change as (
    select count(*) filter (where state = 'open') as open, count(*) filter (where state = 'review') as review, count(*) as cancelled from locked
)
update pages p set open = p.open - change.open, review = p.review - change.review, cancelled = p.cancelled + change.cancelled
from page, change where p.job_id = $1 and p.number = page.number
returning p.number
