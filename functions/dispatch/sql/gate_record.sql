select l.state, l.shards, l.reported, j.state as job_state, v.digest, f.name as function, v.version, v.manifest -> 'limits' as limits, j.policy ? 'confirm' as confirm, j.controls > 0 as controls,
    j.shards_total, a.aggregator ->> 'module' as module, exists (select from agent_keys where agent_id = $2) as key_known, l.statement as asked
from leases l
join jobs j on j.id = l.job_id
left join aggregations a on a.job_id = j.id and a.run = j.run
join function_versions v on v.function_id = j.function_id and v.version = j.function_version
join functions f on f.id = j.function_id
where l.id = $1 and l.agent_id = $2
for update of l
