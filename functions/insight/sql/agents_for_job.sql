-- How many agents may work for a job ($2) of a project ($1), and what keeps the others from it. $3 are the agents that are lent nothing, $4
-- those that refuse the job's function, $5 the agents and owners that are excluded from it, and $6 the owners that are caught, named as in
-- functions/owner. $7 is the meter that functions in WebAssembly need. Lacking are the
-- volumes that none of them has, and stocked those with all.
with members as (
    select a.id = any ($3) or $6::text[] <> '{}' and 'owner ' || a.owner = any ($6) as caught, a.id = any ($4) as refused,
        $5::text[] <> '{}' and ('agent ' || a.id = any ($5) or 'owner ' || a.owner = any ($5)) as excluded,
        a.last_seen_at > now() - interval '1 minute' as seen, a.isolated and (not coalesce(j.wasm, false) or x.meter = $7) as isolated, x.volumes
    from ostraka.agents_for($1, $2) a join ostraka.agents x on x.id = a.id left join ostraka.open_jobs j on j.job_id = $2
)
select coalesce((
        select jsonb_agg(w order by w ->> 'name') from open_jobs j, jsonb_array_elements(j.volumes) w
        where j.job_id = $2 and not exists (select from members m where m.seen and ostraka.has_volume(m.volumes, $1, w))
    ), '[]') as lacking,
    coalesce((select jsonb_array_length(j.volumes) from open_jobs j where j.job_id = $2), 0) as volumes,
    count(*) filter (where seen and ostraka.has_volumes(volumes, $1, coalesce((select j.volumes from open_jobs j where j.job_id = $2), '[]'))) as stocked,
    count(*) as active,
    (select count(*) from agent_projects m join agents a on a.id = m.agent_id where m.project_id = $1 and m.excluded and a.state <> 'revoked') as removed,
    count(*) filter (where seen) as seen,
    count(*) filter (where seen and isolated) as isolated,
    count(*) filter (where seen and isolated and caught) as caught,
    count(*) filter (where seen and isolated and refused and not caught) as refused,
    count(*) filter (where seen and isolated and excluded and not refused and not caught) as excluded,
    (select coalesce(j.wasm, false) from ostraka.open_jobs j where j.job_id = $2) is true as wasm,
    coalesce((select j.runtime from ostraka.open_jobs j where j.job_id = $2), '') as runtime,
    (select case when ostraka.isolation_level(j.min_isolation) > ostraka.isolation_level(p.min_isolation) then j.min_isolation else p.min_isolation end
        from projects p left join open_jobs j on j.job_id = $2 where p.id = $1) as isolation
from members
