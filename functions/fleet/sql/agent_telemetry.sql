-- Figures of an agent from $2 up to $3 in steps of $4 seconds: from samples, or from hours and the samples of those that are not rolled up.
with done as (
    select coalesce((select hour from telemetry_done), '-infinity') as hour
),
deltas as (
    select at, cpu, load, memory, disk, sandboxes, battery,
        greatest(sent - lag(sent) over w, 0) as sent, greatest(received - lag(received) over w, 0) as received
    from agent_samples
    where agent_id = $1 and at >= $2::timestamptz - interval '5 minutes' and at < $3 and at > now() - interval '24 hours'
    window w as (order by at)
),
points as (
    select at, 1 as samples, cpu as cpu_avg, cpu as cpu_max, load as load_avg, load as load_max, memory as memory_avg, memory as memory_max,
        disk as disk_avg, disk as disk_max, coalesce(sent, 0) as sent, coalesce(received, 0) as received, sandboxes as sandboxes_max, battery as battery_min
    from deltas, done where at >= $2 and ($5 or at >= done.hour)
    union all
    select hour, samples, cpu_avg, cpu_max, load_avg, load_max, memory_avg, memory_max, disk_avg, disk_max, sent, received, sandboxes_max, battery_min
    from agent_hours where agent_id = $1 and not $5 and hour >= date_trunc('hour', $2::timestamptz) and hour < $3
)
select to_timestamp(floor(extract(epoch from at) / $4::int) * $4::int) as at, sum(samples)::bigint as samples,
    (sum(cpu_avg * samples) / sum(samples))::float8 as cpu_avg, max(cpu_max)::float8 as cpu_max,
    (sum(load_avg * samples) / sum(samples))::float8 as load_avg, max(load_max)::float8 as load_max,
    (sum(memory_avg * samples) / sum(samples))::bigint as memory_avg, max(memory_max) as memory_max,
    (sum(disk_avg * samples) / sum(samples))::bigint as disk_avg, max(disk_max) as disk_max,
    sum(sent)::bigint as sent, sum(received)::bigint as received, max(sandboxes_max) as sandboxes_max, min(battery_min)::float8 as battery_min
from points group by 1 order by 1
