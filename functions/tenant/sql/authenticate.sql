-- What a revoked agent's key was is told apart from what is no key, so that the agent hears why it is refused.
select k.id, k.role, k.project_id, k.agent_id, a.instance, k.revoked_at is not null as revoked, coalesce(a.state = 'revoked', false) as agent_revoked,
    nullif(p.quotas, '{}') as quotas, k.role <> 'agent' and (k.used_at is null or k.used_at < now() - $2::interval) as stale
from ostraka.api_keys k left join ostraka.agents a on a.id = k.agent_id left join ostraka.projects p on p.id = k.project_id
where k.secret_sha256 = $1 and (k.expires_at is null or k.expires_at > now())
