-- A running River job whose worker (the last of attempted_by) has not been seen for $1 becomes available again.
with dead as (
    delete from ostraka.servers where seen_at < now() - interval '1 day'
)
update river.river_job j set state = 'available', scheduled_at = now()
where j.state = 'running'
  and not exists (
    select from ostraka.servers s
    where s.id = j.attempted_by[array_upper(j.attempted_by, 1)] and s.seen_at > now() - $1::interval
  )
