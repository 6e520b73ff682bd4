-- All results that the submissions $2 of the job $1 have stated, in the order of their shards. What was said to a control is no attempt. Shown are those
-- that were accepted, where the receipt names the agent, of which it names $3 a shard: the outcome is that of the accepted one.
with stated as materialized (
    select u.id, u.lease_id, u.agent_id, t.shard from submissions u cross join unnest(coalesce(u.stated, u.shards)) as t (shard) where u.id = any ($2::uuid[])
),
packed as materialized (
    select shard, agent_id, submission_id, output_digest, row_number() over (partition by shard order by agent_id) as place
    from packed_attempts where job_id = $1 and page = any (array(select distinct shard / 1024 from stated))
)
select t.id, t.shard,
    case when c.place is not null then c.status when p.shard is not null then 'ok' else a.status end as status,
    case when c.place is not null then c.outcome when p.shard is not null then p.output_digest else a.outcome end as outcome,
    case when c.place is not null then c.output_digest when p.shard is not null then p.output_digest else a.output_digest end as output,
    case when c.place is not null then false when p.shard is not null then p.submission_id = t.id and p.place <= $3::int
        else coalesce(a.submission_id = t.id and a.status = 'ok' and exists (
            select from shards s join attempts k on k.job_id = s.job_id and k.shard = s.number and k.agent_id = s.agent_id
            where s.job_id = $1 and s.number = t.shard and s.state = 'accepted' and k.outcome = a.outcome
        ) and (select count(*) from attempts b where b.job_id = $1 and b.shard = t.shard and b.outcome = a.outcome
            and b.agent_id < a.agent_id and b.agent_id <> '00000000-0000-0000-0000-000000000000') < $3::int, false) end as shown
from stated t
left join control_loans c on c.lease_id = t.lease_id and c.place = t.shard
left join lateral ( -- that of the submission, or of one before that this one repeats
    select b.* from attempts b where b.job_id = $1 and b.shard = t.shard and (b.submission_id = t.id or b.agent_id = t.agent_id)
    order by b.submission_id <> t.id limit 1
) a on true
left join packed p on p.shard = t.shard and p.agent_id = t.agent_id
order by t.id, t.shard
