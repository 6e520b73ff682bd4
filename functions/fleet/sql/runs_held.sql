-- What servers execute although the switch $1 holds it; of a project's ($2) only. A server that was not heard of for a minute has died, and
-- its sandboxes with it.
select r.batch, r.project_id as project, r.job_id as job, r.function, r.version, r.shards, r.started_at
from kill_switches k join recheck_runs r on holds(k, r.project_id, r.function, r.version)
where k.id = $1 and k.agent_id is null and r.seen_at > now() - interval '1 minute' and ($2::uuid is null or r.project_id = $2)
order by r.started_at, r.batch
