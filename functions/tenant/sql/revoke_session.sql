-- $2 to $4 say whose sessions: see list_sessions.sql.
update sessions s set revoked_at = coalesce(s.revoked_at, now())
where s.id = $1 and ($2::uuid is null or s.key_id = $2) and ($3::text is null or s.subject = $3)
    and ($4::uuid is null or coalesce((select k.project_id from api_keys k where k.id = s.key_id), s.project_id) = $4)
