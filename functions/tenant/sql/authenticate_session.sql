-- A session is worth what its key is worth at this moment.
select s.id as session, s.seen_at < now() - $4::interval as stale, k.id as key_id, coalesce(k.role, s.role) as role, coalesce(k.project_id, s.project_id) as project_id,
    coalesce(s.subject, '') as subject,
    nullif(p.quotas, '{}') as quotas
from ostraka.sessions s left join ostraka.api_keys k on k.id = s.key_id left join ostraka.projects p on p.id = coalesce(k.project_id, s.project_id)
where s.secret_sha256 = $1 and s.revoked_at is null and s.seen_at > now() - $2::interval and s.created_at > now() - case when s.key_id is null then $5::interval else $3::interval end
    and (s.key_id is null or k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))
