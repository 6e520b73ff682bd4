-- The next hour to roll up: that after the last one, but no older than the samples are; found while it is over.
select hour from (
    select greatest((select hour from telemetry_done), date_trunc('hour', now() - $1::interval)) as hour
) as next where hour <= now() - interval '1 hour'
