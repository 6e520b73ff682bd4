-- The agent as it is now, and beside it the open jobs that want it and that it wants, in the order of their turns as package turns has it:
-- projects by their turns, of each one the jobs by theirs, $2 at a time; $3 jobs at most. There is always a row while there is the agent: a
-- poll that waits hears at once what was decided about it.
with me as (
    select id, name, state, state_reason, eula_digest, isolation, meter, runtimes, min_isolation as wish, projects, platform, volumes from ostraka.agents where id = $1
),
wanted as materialized (
    select m.project_id as id from ostraka.agent_projects m where m.agent_id = $1 and not m.excluded
    union
    select p.id from ostraka.projects p where p.agents_open
      and not exists (select from ostraka.agent_projects m where m.agent_id = $1 and m.project_id = p.id and m.excluded)
),
open as (
    select j.project_id, j.job_id, j.min_isolation, j.wasm, j.runtime, j.stride, j.turn_start, j.turn_end,
        max(j.turn_start) over of_project as clock, row_number() over (of_project order by j.turn_end, j.job_id) as nth
    from wanted w
    join ostraka.open_jobs j on j.project_id = w.id
    cross join me
    where me.state = 'active' and not exists (
        select from ostraka.kill_switches k -- nobody gets what a switch holds
        where k.off_at is null and (k.agent_id is null or k.agent_id = $1) and ostraka.holds(k, j.project_id, j.function, j.function_version)
      )
      and j.held is null -- its code is being scored, or waits for a person
      and j.awaits is null -- it waits for an approval
      and (me.projects = '{}' or j.project_id = any (me.projects))
      and ostraka.has_volumes(me.volumes, j.project_id, j.volumes)
    window of_project as (partition by j.project_id)
),
lines as (
    select p.id, p.weight, p.min_isolation, coalesce(t.turn_start, 0) as turn_start, coalesce(t.turn_end, 0) as turn_end,
        max(coalesce(t.turn_start, 0)) over () as clock
    from (select distinct project_id from open) o
    join ostraka.projects p on p.id = o.project_id
    left join ostraka.project_turns t on t.project_id = p.id
),
jobs as (
    select o.project_id, o.job_id, o.min_isolation, o.wasm, o.runtime, l.min_isolation as project_isolation, l.weight, o.stride,
        l.turn_start as project_start, l.turn_end as project_end, l.clock as project_clock,
        o.turn_start as job_start, o.turn_end as job_end, o.clock as job_clock, o.nth
    from open o join lines l on l.id = o.project_id
    order by (o.nth - 1) / $2::int, l.turn_end, o.project_id, o.nth limit $3
)
select me.name, me.state, me.state_reason, me.eula_digest, me.isolation, me.meter, me.runtimes, me.wish, me.platform,
    j.project_id, j.job_id, coalesce(j.min_isolation, '') as min_isolation, coalesce(j.wasm, false) as wasm, coalesce(j.runtime, '') as runtime, coalesce(j.project_isolation, '') as project_isolation,
    coalesce(ostraka.owner_at($1, j.project_id), '') as owner, coalesce(j.weight, 1) as weight, coalesce(j.stride, 1) as stride,
    coalesce(j.project_start, 0) as project_start, coalesce(j.project_end, 0) as project_end, coalesce(j.project_clock, 0) as project_clock,
    (select version from ostraka.guardian_policy) as rules,
    coalesce(j.job_start, 0) as job_start, coalesce(j.job_end, 0) as job_end, coalesce(j.job_clock, 0) as job_clock
from me left join jobs j on true order by (j.nth - 1) / $2::int, j.project_end, j.project_id, j.nth
