-- One heartbeat. It names no column that is indexed, so that a heartbeat costs a row version in the same page and nothing else; once a
-- minute it leaves a sample as well, in the place of that of the same minute yesterday.
with sample as (
    insert into agent_samples as s (agent_id, slot, at, cpu, load, memory, disk, sent, received, sandboxes, battery)
    select id, (extract(epoch from now())::bigint / 60 % 1440)::smallint, now(), coalesce((h ->> 'cpu_percent')::real, 0), coalesce((h ->> 'load1')::real, 0),
        greatest(coalesce((h ->> 'memory_total_bytes')::bigint, 0) - coalesce((h ->> 'memory_free_bytes')::bigint, 0), 0),
        greatest(coalesce((h ->> 'disk_total_bytes')::bigint, 0) - coalesce((h ->> 'disk_free_bytes')::bigint, 0), 0),
        coalesce((h ->> 'sent_bytes')::bigint, 0), coalesce((h ->> 'received_bytes')::bigint, 0), coalesce((h ->> 'sandboxes')::int, 0),
        (h ->> 'battery_percent')::real
    from agents, (select $6::jsonb as h) as given where id = $1 and h is not null
    on conflict (agent_id, slot) do update set at = excluded.at, cpu = excluded.cpu, load = excluded.load, memory = excluded.memory, disk = excluded.disk,
        sent = excluded.sent, received = excluded.received, sandboxes = excluded.sandboxes, battery = excluded.battery
    where s.at < now() - interval '1 hour'
)
update agents set last_seen_at = now(), shards_done = $2, idle_code = $3, idle_text = $4, idle_seconds = $5, host = coalesce($6::jsonb, host),
    projects = coalesce($7::uuid[], projects), isolation = coalesce($8, isolation), min_isolation = coalesce($9, min_isolation), meter = coalesce($10, meter),
    runtimes = coalesce($11, runtimes), volumes = coalesce($12::jsonb, volumes)
where id = $1
returning state, state_reason as reason, eula_digest, duplicate_at, duplicate_address
