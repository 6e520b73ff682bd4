-- Shards that wait for a further attempt though nobody is left who may take them: each of these agents ($2) has tried them, or another one of
-- its hand ($3, as functions/trust/hands.go names it) has and was not taken back. The first that wait are looked at: where a job does not go on,
-- there are no others.
select s.number from (
    select number from shards where job_id = $1 and state = 'open' and wanted > 0 and lent = 0 order by number limit 1000
) s
cross join lateral (
    select coalesce(array_agg(a.agent_id), '{}') as tried,
        coalesce(array_agg(case when c.owner <> '' then 'owner ' || c.owner else 'agent ' || a.agent_id end) filter (where not a.void), '{}') as spoken
    from attempts a left join lease_cursors c on c.job_id = a.job_id and c.agent_id = a.agent_id
    where a.job_id = $1 and a.shard = s.number
) a
where not exists (
    select from unnest($2::uuid[], $3::text[]) as u (agent, hand) where u.agent <> all (a.tried) and u.hand <> all (a.spoken)
)
order by s.number
