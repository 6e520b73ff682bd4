-- Writes at most every five seconds: a poll must not cost a row version.
with seen as (
    update agents set last_seen_at = now()
    where id = $1 and (last_seen_at is null or last_seen_at < now() - interval '5 seconds')
)
select id, name, state, isolation, platform, created_at, last_seen_at from agents where id = $1
