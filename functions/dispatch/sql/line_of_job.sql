-- Where a job stands among those of its project that are not held, and its project among those that have such jobs.
with mine as (
    select project_id, job_id, stride, turn_end from open_jobs where job_id = $1 and held is null and awaits is null
),
busy as (
    select p.id, p.weight, coalesce(t.turn_end, 0) as turn_end
    from projects p left join project_turns t on t.project_id = p.id
    where exists (select from open_jobs o where o.project_id = p.id and o.held is null and o.awaits is null)
)
select m.stride, p.weight,
    (select count(*) from open_jobs o where o.project_id = m.project_id and o.held is null and o.awaits is null and (o.turn_end, o.job_id) < (m.turn_end, m.job_id)) as before,
    (select array_agg(o.stride) from open_jobs o where o.project_id = m.project_id and o.held is null and o.awaits is null) as strides,
    (select array_agg(b.weight) from busy b) as weights
from mine m join projects p on p.id = m.project_id
