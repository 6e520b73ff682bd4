-- The agents with an incident in the job that this one runs again, or in one that that one runs again and so on, and whose machines they
-- were there.
with recursive earlier as (
    select rerun_of as id from jobs where id = $1
    union
    select j.rerun_of from earlier e join jobs j on j.id = e.id
)
select i.agent_id, coalesce(c.owner, '') as owner from earlier e
join incidents i on i.job_id = e.id
left join lease_cursors c on c.job_id = i.job_id and c.agent_id = i.agent_id
