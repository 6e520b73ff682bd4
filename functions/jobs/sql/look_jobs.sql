-- The jobs that change: of the newest, those that go on or have ended a moment ago, and those that somebody asked for. What has ended is left
-- out before its pages are added up.
with picked as (
    select id from (select id, state, finished_at from jobs order by id desc limit $1) newest
    where state <> 'deleting' and (state not in ('finished', 'failed', 'cancelled') or finished_at > now() - interval '1 minute')
    union
    select id from jobs where id = any ($2)
)
select r.id, r.function_name, r.function_version, r.state, r.shards_total, r.open, r.accepted, r.provisional, r.review, r.failed, r.cancelled, r.attempts, r.event_seq
from picked p join job_rows r on r.id = p.id order by r.id
