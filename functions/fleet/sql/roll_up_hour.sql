-- Makes a row of the samples of the hour $1 for each agent, drops the samples in whose place nothing has come for a day and the hours in
-- whose place nothing has come for thirty, and notes that it is done.
with places as (
    select (extract(epoch from $1::timestamptz)::bigint / 60 % 1440)::smallint as minute, (extract(epoch from $1::timestamptz)::bigint / 3600 % 720)::smallint as slot
),
deltas as (
    select s.*, greatest(s.sent - lag(s.sent) over w, 0) as sent_in, greatest(s.received - lag(s.received) over w, 0) as received_in
    from agents a
    cross join places p
    join agent_samples s on s.agent_id = a.id and s.slot between p.minute and p.minute + 59 and s.at >= $1 and s.at < $1::timestamptz + interval '1 hour'
    window w as (partition by s.agent_id order by s.at)
),
hours as (
    insert into agent_hours as h (agent_id, slot, hour, samples, cpu_avg, cpu_max, load_avg, load_max, memory_avg, memory_max, disk_avg, disk_max, sent, received, sandboxes_max, battery_min)
    select d.agent_id, p.slot, $1, count(*), avg(cpu), max(cpu), avg(load), max(load), avg(memory)::bigint, max(memory), avg(disk)::bigint, max(disk),
        coalesce(sum(sent_in), 0), coalesce(sum(received_in), 0), max(sandboxes), min(battery)
    from deltas d cross join places p group by d.agent_id, p.slot
    on conflict (agent_id, slot) do update set hour = excluded.hour, samples = excluded.samples, cpu_avg = excluded.cpu_avg, cpu_max = excluded.cpu_max,
        load_avg = excluded.load_avg, load_max = excluded.load_max, memory_avg = excluded.memory_avg, memory_max = excluded.memory_max,
        disk_avg = excluded.disk_avg, disk_max = excluded.disk_max, sent = excluded.sent, received = excluded.received,
        sandboxes_max = excluded.sandboxes_max, battery_min = excluded.battery_min
),
old_samples as (
    delete from agent_samples s using agents a, places p
    where s.agent_id = a.id and s.slot between p.minute and p.minute + 59 and s.at < $1
),
old_hours as (
    delete from agent_hours h using agents a, places p
    where h.agent_id = a.id and h.slot = p.slot and h.hour < $1 and not exists (select from deltas d where d.agent_id = h.agent_id)
)
insert into telemetry_done (hour) values ($1::timestamptz + interval '1 hour')
on conflict (only_one) do update set hour = greatest(telemetry_done.hour, excluded.hour)
