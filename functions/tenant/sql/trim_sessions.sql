-- The oldest sessions of whoever has too many end.
update sessions set revoked_at = now() where id in (
    select id from sessions where (key_id = $1 or subject = $2) and revoked_at is null and seen_at > now() - $3::interval and created_at > now() - $4::interval
    order by seen_at desc, id desc offset $5)
