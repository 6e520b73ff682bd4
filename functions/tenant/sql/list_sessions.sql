-- $3 to $5 say whose sessions: of a key, of a person, of a project; null: of all.
select s.id, s.key_id, coalesce(k.name, s.subject) as name, coalesce(k.role, s.role) as role, coalesce(k.project_id, s.project_id) as project, s.user_agent,
    s.created_at, s.seen_at, least(s.seen_at + $6::interval, s.created_at + case when s.key_id is null then $8::interval else $7::interval end, k.expires_at) as expires_at
from sessions s left join api_keys k on k.id = s.key_id
where s.id > $1 and ($3::uuid is null or s.key_id = $3) and ($4::text is null or s.subject = $4) and ($5::uuid is null or coalesce(k.project_id, s.project_id) = $5)
    and s.revoked_at is null and s.seen_at > now() - $6::interval and s.created_at > now() - case when s.key_id is null then $8::interval else $7::interval end
    and (s.key_id is null or k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))
order by s.id limit $2
