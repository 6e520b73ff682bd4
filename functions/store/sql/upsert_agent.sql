-- The same key enrolling again is the same agent. One that was revoked stays so.
insert into agents (id, public_key, name, state, isolation, platform) values ($1, $2, $3, 'active', $4, $5::jsonb)
on conflict (public_key) do update set name = excluded.name, isolation = excluded.isolation, platform = excluded.platform
returning id, name, state, state_reason, isolation, platform, created_at, last_seen_at
