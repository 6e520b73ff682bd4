-- The same key enrolling again is the same agent, in the state that it has.
insert into agents (id, public_key, name, state, isolation, platform, asked_from) values ($1, $2, $3, $6, $4, $5::jsonb, $7)
on conflict (public_key) do update set name = excluded.name, isolation = excluded.isolation, platform = excluded.platform
returning id
