-- The agents that may yet take shards of a job: not those that are caught or refuse its function ($3), and not those that were not heard
-- of for so long ($4). Isolation is compared as in agents_for_job.
with levels as (
    select array['process', 'landlock', 'linux-nocgroup', 'linux', 'container', 'gvisor'] as names
),
asked as (
    select l.names, greatest(array_position(l.names, coalesce(j.min_isolation, 'process')), array_position(l.names, p.min_isolation)) as level,
        p.agents_open
    from levels l
    join projects p on p.id = $1
    left join open_jobs j on j.job_id = $2
)
select a.id, ostraka.owner_at(a.id, $1) as owner from asked q
cross join agents a
left join agent_projects m on m.agent_id = a.id and m.project_id = $1
where a.state = 'active' and not coalesce(m.excluded, false) and (m.agent_id is not null or q.agents_open)
  and (a.projects = '{}' or $1 = any (a.projects)) and a.id <> all ($3) and a.last_seen_at > now() - $4::interval
  and array_position(q.names, a.isolation) >= greatest(q.level, array_position(q.names, a.min_isolation))
order by a.id
