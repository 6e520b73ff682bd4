-- The agent as it is now, and beside it the open jobs after one of them that want it and that it wants, oldest first. There is always
-- a row while there is the agent: a poll that waits hears at once what was decided about it.
with me as (
    select id, state, state_reason, eula_digest, isolation, min_isolation as wish, projects, platform from ostraka.agents where id = $1
),
wanted as materialized (
    select m.project_id as id from ostraka.agent_projects m where m.agent_id = $1 and not m.excluded
    union
    select p.id from ostraka.projects p where p.agents_open
      and not exists (select from ostraka.agent_projects m where m.agent_id = $1 and m.project_id = p.id and m.excluded)
),
jobs as (
    select j.project_id, j.job_id, j.min_isolation, p.min_isolation as project_isolation, j.created_at,
        ostraka.owner_at($1, j.project_id) as owner
    from wanted w
    join ostraka.projects p on p.id = w.id
    join ostraka.open_jobs j on j.project_id = w.id
    cross join me
    where me.state = 'active' and not exists (
        select from ostraka.kill_switches k -- nobody gets what a switch holds
        where k.off_at is null and (k.agent_id is null or k.agent_id = $1) and ostraka.holds(k, j.project_id, j.function, j.function_version)
      )
      and j.held is null -- its code is being scored, or waits for a person
      and (me.projects = '{}' or j.project_id = any (me.projects)) and (j.created_at, j.job_id) > ($2, $3)
    order by j.created_at, j.job_id limit $4
)
select me.state, me.state_reason, me.eula_digest, me.isolation, me.wish,
    j.project_id, j.job_id, coalesce(j.min_isolation, '') as min_isolation, coalesce(j.project_isolation, '') as project_isolation, j.created_at,
    coalesce(j.owner, '') as owner, me.platform
from me left join jobs j on true order by j.created_at, j.job_id
