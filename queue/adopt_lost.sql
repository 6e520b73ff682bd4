-- Running jobs of server $1 that were handed out more than $2 ago and are none of those that it works on, $3.
update river.river_job set state = 'available', scheduled_at = now()
where state = 'running' and attempted_by[array_upper(attempted_by, 1)] = $1 and attempted_at < now() - $2::interval
  and id <> all ($3::bigint[])
