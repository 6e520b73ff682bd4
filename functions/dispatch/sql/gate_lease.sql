-- Also lets one poll of the agent into the job at a time: two at once would not see each other's leases and could lend the agent
-- the same shard twice.
select j.state, j.partition, f.name as function_name, j.function_version as version, v.digest, v.size, v.manifest, v.signature, v.signed_by, j.policy, j.rerun_of,
    j.shards_total as shards, j.depth, j.priority, j.conditions, j.controls > 0 as controls, (select version from guardian_policy) as rules,
    -- What was found in the code of the version, and whether anybody has looked: facts for the guardian.
    (select jsonb_agg(jsonb_build_object('heuristic', d.heuristic, 'file', d.file, 'labels', d.labels, 'places', d.places)) from findings d
        where d.function_id = j.function_id and d.function_version = j.function_version and d.job_id is null and d.heuristic = 'code-risk') as findings,
    exists (select from code_scores s where s.function_id = j.function_id and s.function_version = j.function_version
        and s.heuristic = 'code-risk' and s.score is not null) as scored,
    coalesce(t.caught_at is not null, false) as caught,
    -- It said that it does not take this version, and is not asked again for a while.
    exists (select from refusals r where r.agent_id = $2 and r.function_id = j.function_id and r.function_version = j.function_version
        and r.until > now()) as refused,
    -- Where a shard needs one attempt, what any agent was lent is gone for all; where it needs more, each agent has its own way to go.
    coalesce(case when coalesce((j.policy ->> 'quorum')::int, 1) = 1
        then (select max(next) from lease_cursors where job_id = j.id) else c.next end, 0) as next
from jobs j
join functions f on f.id = j.function_id
join function_versions v on v.function_id = j.function_id and v.version = j.function_version
left join trust t on t.agent_id = $2
left join lease_cursors c on c.job_id = j.id and c.agent_id = $2
cross join (select pg_advisory_xact_lock(hashtextextended($1::uuid::text || $2::uuid::text, 0))) as gate
-- A switch that is being put on waits for this transaction, see lock_switches.
cross join (select pg_advisory_xact_lock_shared(hashtextextended('ostraka.kill_switches', 0))) as switches
where j.id = $1
