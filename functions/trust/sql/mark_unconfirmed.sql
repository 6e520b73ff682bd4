-- Notes of attempts of the job $1 whether they ended without an answer where somebody else gave one, and says what that changes for whom.
with marked as (
    update attempts a set unconfirmed = n.unconfirmed
    from unnest($2::bigint[], $3::uuid[], $4::boolean[]) as n (shard, agent_id, unconfirmed)
    where a.job_id = $1 and a.shard = n.shard and a.agent_id = n.agent_id and a.unconfirmed <> n.unconfirmed
    returning a.agent_id, case when a.unconfirmed then 1 else -1 end as change
)
select agent_id, sum(change)::bigint as change from marked group by agent_id order by agent_id
