-- The agents with an incident in the job that this one runs again, or in one that that one runs again and so on, and whose machines they
-- were there. Some of these jobs may have been deleted since.
with recursive earlier as (
    select rerun_of as id from jobs where id = $1
    union
    select coalesce(j.rerun_of, d.rerun_of) from earlier e left join jobs j on j.id = e.id left join deleted_jobs d on d.id = e.id
)
select i.agent_id, coalesce(c.owner, '') as owner from earlier e
join incidents i on i.job_id = e.id
left join lease_cursors c on c.job_id = i.job_id and c.agent_id = i.agent_id
union all
select s.agent_id, s.owner from earlier e
join deleted_jobs d on d.id = e.id
cross join unnest(d.suspect_agents, d.suspect_owners) as s (agent_id, owner)
