-- The key of an agent that is not active is no key.
select k.id, k.role, k.project_id, k.agent_id
from ostraka.api_keys k left join ostraka.agents a on a.id = k.agent_id
where k.secret_sha256 = $1
  and k.revoked_at is null
  and (k.expires_at is null or k.expires_at > now())
  and (k.agent_id is null or a.state <> 'revoked')
