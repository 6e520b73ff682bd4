-- Writes at most every five seconds: a poll must not cost a row version.
with seen as (
    update ostraka.agents set last_seen_at = now()
    where id = $1 and (last_seen_at is null or last_seen_at < now() - interval '5 seconds')
)
select id, name, state, state_reason, isolation, platform, created_at, last_seen_at,
    array(select project_id from ostraka.agent_projects where agent_id = a.id) as projects
from ostraka.agents a where id = $1
