-- The shards of a page with their attempts, a row for each attempt, or one for a shard without any. The output of an attempt that agrees is that of
-- its shard. Attempts that are packed agree. How it was drawn about the accepted result is read as for receipts.
with packed as materialized (
    select shard, agent_id, output, output_digest, output_bytes, cpu_us, wall_us, peak_rss, diagnostics, reported_at, submission_id
    from packed_attempts
    where job_id = $1 and page >= $2::bigint / 1024 and page <= ($3::bigint - 1) / 1024 and shard >= $2 and shard < $3
),
drawn as materialized (
    select s.number,
        case when (select coalesce((j.policy ->> 'quorum')::int, 0) >= 2 from jobs j where j.id = $1) then '' else coalesce(d.agent_id, s.agent_id)::text end as draw_agent,
        case when s.state = 'accepted' then coalesce(d.rate, s.draw_rate) end as draw_rate,
        case when d.rate is not null then nullif(d.number, 0)::int when own.number is null or own.number = s.in_window then s.in_window end as draw_window,
        coalesce(d.rate is not null or own.number = s.in_window, false) as drawn
    from shards s
    left join attempts k on k.job_id = s.job_id and k.shard = s.number and k.agent_id = s.agent_id and s.state = 'accepted'
    left join audits own on own.job_id = s.job_id and own.shard = s.number and own.agent_id = s.agent_id and s.state = 'accepted'
    left join lateral (
        select u.agent_id, u.rate, u.number from audits u
        where s.in_window is null and u.job_id = s.job_id and u.shard = s.number and u.rate is not null and u.state <> 'failed'
            and (k.outcome is null and s.number = any (array(select shard from packed))
                or exists (select from attempts b where b.job_id = u.job_id and b.shard = u.shard and b.agent_id = u.agent_id and b.outcome = k.outcome))
        order by u.state <> 'passed', u.agent_id limit 1
    ) d on true
    where s.job_id = $1 and s.number >= $2 and s.number < $3
),
said as (
    select s.number, s.state, s.awaits is not null as provisional, s.lost, s.input, s.agent_id as accepted, s.reasons,
        a.agent_id, a.status, a.outcome = k.outcome as agrees, a.void, case when a.agent_id = s.agent_id or a.outcome is distinct from k.outcome then a.output end as output,
        encode(a.output_digest, 'hex') as output_digest, encode(a.outcome, 'hex') as outcome, a.output_bytes, a.cpu_us, a.wall_us, a.peak_rss, a.diagnostics,
        a.reported_at, a.submission_id, u.signature
    from shards s
    left join attempts k on k.job_id = s.job_id and k.shard = s.number and k.agent_id = s.agent_id and s.state = 'accepted'
    left join attempts a on a.job_id = s.job_id and a.shard = s.number
    left join submissions u on u.id = a.submission_id
    where s.job_id = $1 and s.number >= $2 and s.number < $3 and s.number <> all (array(select shard from packed))
    union all
    select s.number, s.state, false, s.lost, s.input, s.agent_id, s.reasons,
        a.agent_id, 'ok', true, false, case when a.agent_id = s.agent_id then a.output end,
        encode(a.output_digest, 'hex'), encode(a.output_digest, 'hex'), a.output_bytes, a.cpu_us, a.wall_us, a.peak_rss, a.diagnostics,
        a.reported_at, a.submission_id, u.signature
    from packed a
    cross join lateral (select * from shards where job_id = $1 and number = a.shard offset 0) s
    left join submissions u on u.id = a.submission_id
)
select said.*, drawn.draw_agent, drawn.draw_rate, drawn.draw_window, drawn.drawn
from said left join drawn on drawn.number = said.number
order by said.number, said.agent_id
