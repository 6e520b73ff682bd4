-- Writes at most every five seconds: a poll must not cost a row version. The projects are those whose news the agent waits for.
with seen as (
    update ostraka.agents set last_seen_at = now()
    where id = $1 and (last_seen_at is null or last_seen_at < now() - interval '5 seconds')
)
select state, state_reason, eula_digest, duplicate_at, duplicate_address, array(
    select project_id from ostraka.agent_projects where agent_id = $1 and not excluded
    union
    select id from ostraka.projects where agents_open
) as projects
from ostraka.agents where id = $1
