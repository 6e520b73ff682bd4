-- Agents that do not take the job's function now.
select r.agent_id, r.code, r.reason
from jobs j
join refusals r on r.function_id = j.function_id and r.function_version = j.function_version and r.until > now()
where j.id = $1 order by r.refused_at desc, r.agent_id
