-- The same key enrolling again is the same agent, in the state that it has, where its nonce was given later than the one before.
insert into agents (id, public_key, name, state, isolation, platform, asked_from, enrolled_nonce_at, meter, runtimes)
values ($1, $2, $3, $6, $4, $5::jsonb, $7, $8, $9, $10)
on conflict (public_key) do update set name = excluded.name, isolation = excluded.isolation, platform = excluded.platform, meter = excluded.meter, runtimes = excluded.runtimes,
    enrolled_nonce_at = excluded.enrolled_nonce_at
where excluded.enrolled_nonce_at > coalesce(agents.enrolled_nonce_at, '-infinity')
returning id
