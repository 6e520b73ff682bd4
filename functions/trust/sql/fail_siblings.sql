-- The other agents of the owner ($3) of an agent ($2) are looked at more closely from now on, and those of their windows in the job are
-- dropped: what nobody else is writing to now, so that none waits for another in a circle. Their results are taken back all the same.
with siblings as materialized (
    select distinct c.agent_id from lease_cursors c where c.owner = $3 and c.agent_id <> $2
),
known as materialized (
    select t.agent_id from trust t join siblings s on s.agent_id = t.agent_id order by t.agent_id for update of t skip locked
),
probation as (
    update trust t set since_failure = 0 from known k where t.agent_id = k.agent_id
),
due as (
    select w.job_id, w.agent_id, w.number from windows w join siblings s on s.agent_id = w.agent_id
    where w.state in ('open', 'closing') and w.job_id = $1 order by w.agent_id, w.number for update of w skip locked
),
dropped as (
    update windows w set state = 'failed' from due where w.job_id = due.job_id and w.agent_id = due.agent_id and w.number = due.number
)
select agent_id from siblings order by agent_id
