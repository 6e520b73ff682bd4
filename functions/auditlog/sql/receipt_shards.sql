-- Which output each accepted shard has, who gave exactly these bytes, and how it was drawn whether the result is audited; the nil agent is the server.
-- All attempts of a shard that are packed gave these bytes, and none of them is the server's.
-- What is said of a draw: of a result that its window made final, whether it was one of those that were drawn of the window, unless it was audited
-- otherwise; else, of one that was audited by itself or confirmed, how that was drawn; else the rate at which it was found not to be audited at once,
-- if it was drawn at all. A draw about what a quorum has accepted is about no agent.
with picked as materialized (
    select job_id, number, agent_id, draw_rate, in_window from shards where job_id = $1 and number > $2 and state = 'accepted' order by number limit $3
),
said as materialized (
    select s.number as shard, a.output_digest, a.outcome,
        array(select b.agent_id::text from attempts b
            where b.job_id = s.job_id and b.shard = s.number and b.outcome = a.outcome and b.agent_id <> '00000000-0000-0000-0000-000000000000'
            order by 1 limit $4) as agents,
        exists (select from attempts b
            where b.job_id = s.job_id and b.shard = s.number and b.outcome = a.outcome and b.agent_id = '00000000-0000-0000-0000-000000000000') as server,
        false as packed
    from picked s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
    union all
    select shard, output_digest, outcome, (array_agg(agent_id::text order by agent_id::text))[1:$4::int], false, true
    from packed_attempts
    where job_id = $1 and page = any (array(select distinct number / 1024 from picked)) and shard > $2 and shard <= (select max(number) from picked)
    group by shard, output_digest, outcome
)
select t.shard, encode(t.output_digest, 'hex') as output, t.agents, t.server,
    case when (select coalesce((j.policy ->> 'quorum')::int, 0) >= 2 from jobs j where j.id = $1) then '' else coalesce(d.agent_id, s.agent_id)::text end as draw_agent,
    coalesce(d.rate, s.draw_rate) as draw_rate,
    case when d.rate is not null then nullif(d.number, 0)::int when own.number is null or own.number = s.in_window then s.in_window end as draw_window,
    coalesce(d.rate is not null or own.number = s.in_window, false) as drawn
from said t join picked s on s.number = t.shard
left join audits own on own.job_id = s.job_id and own.shard = s.number and own.agent_id = s.agent_id
left join lateral (
    select u.agent_id, u.rate, u.number from audits u
    where s.in_window is null and u.job_id = s.job_id and u.shard = s.number and u.rate is not null and u.state <> 'failed'
        and (t.packed or exists (select from attempts b where b.job_id = u.job_id and b.shard = u.shard and b.agent_id = u.agent_id and b.outcome = t.outcome))
    order by u.state <> 'passed', u.agent_id limit 1
) d on true
order by t.shard
