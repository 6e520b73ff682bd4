-- A server that starts works on nothing yet: what runs under its ID was left by an earlier process.
update river.river_job set state = 'available', scheduled_at = now()
where state = 'running' and attempted_by[array_upper(attempted_by, 1)] = $1
