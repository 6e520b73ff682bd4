-- The agents with an incident in the job that this one runs again, or in one that that one runs again and so on, and whose machines they
-- were there. Some of these jobs may have been deleted since. Of a job that executes one shard once more for the check of a workflow, also
-- those who gave what it was accepted with, or what the validator takes for that.
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
union all
select a.agent_id, coalesce(c.owner, '') from workflow_run_steps r
join workflow_bisections b on b.run_id = r.run_id and b.number = r.number and b.phase = 'confirm'
join jobs j on j.id = r.job_id
join shards s on s.job_id = j.rerun_of and s.number = b.low and s.state = 'accepted'
cross join lateral (
    select agent_id, outcome, output_digest from attempts where job_id = s.job_id and shard = s.number
    union all
    select agent_id, outcome, output_digest from packed_attempts where job_id = s.job_id and page = s.number / 1024 and shard = s.number
) x
cross join lateral (
    select job_id, shard, agent_id, outcome, output_digest from attempts where job_id = s.job_id and shard = s.number
    union all
    select job_id, shard, agent_id, outcome, output_digest from packed_attempts where job_id = s.job_id and page = s.number / 1024 and shard = s.number
) a
left join answer_classes k on k.job_id = s.job_id and k.shard = s.number and k.outcome = x.outcome
left join answer_classes o on o.job_id = s.job_id and o.shard = s.number and o.outcome = a.outcome
left join lease_cursors c on c.job_id = a.job_id and c.agent_id = a.agent_id
where r.job_id = $1 and x.agent_id = s.agent_id and a.agent_id <> '00000000-0000-0000-0000-000000000000' and (a.output_digest = x.output_digest or o.representative = k.representative)
