-- One page of a window that has passed, which the caller has locked. Its shards are locked before the page, in the order of their numbers,
-- as in all steps.
with due as (
    select s.number / $4::bigint as page from shards s where s.agent_id = $2 and s.job_id = $1 and s.awaits = $3 order by s.number limit 1
),
locked as (
    select s.number from shards s, due
    where s.agent_id = $2 and s.job_id = $1 and s.awaits = $3 and s.number >= due.page * $4 and s.number < (due.page + 1) * $4
    order by s.number for update of s
),
final as (
    update shards s set awaits = null from locked l where s.job_id = $1 and s.number = l.number and s.agent_id = $2 and s.awaits = $3
    returning s.number
)
update pages p set provisional = p.provisional - (select count(*) from final) from due
where p.job_id = $1 and p.number = due.page
returning p.number, p.provisional
