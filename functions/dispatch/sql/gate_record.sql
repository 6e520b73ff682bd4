select l.state, l.shards, l.reported, j.state as job_state, v.manifest -> 'limits' as limits, j.policy ? 'confirm' as confirm
from leases l
join jobs j on j.id = l.job_id
join function_versions v on v.function_id = j.function_id and v.version = j.function_version
where l.id = $1 and l.agent_id = $2
for update of l
