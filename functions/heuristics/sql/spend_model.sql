-- $2 is what the call takes at most, $3 and $4 what a project may spend in a day: calls, and tokens.
insert into model_usage as m (project_id, day, calls, tokens)
select $1::uuid, (now() at time zone 'utc')::date, 1, $2::bigint where $3::bigint >= 1 and $2::bigint <= $4::bigint
on conflict (project_id, day) do update set calls = m.calls + 1, tokens = m.tokens + excluded.tokens where m.calls < $3::bigint and m.tokens + excluded.tokens <= $4::bigint
returning m.day
