-- What the chain of the root job $1 has taken so far, and the project's planners today. Jobs of a chain are few.
select (select coalesce(sum(shards_total), 0)::bigint from jobs where root_job = $1 and depth > 0 and state <> 'deleting') as shards,
    (select coalesce(sum(m.executions), 0)::bigint from jobs j join job_metrics m on m.job_id = j.id where j.root_job = $1) as executions,
    (select coalesce(sum(fuel), 0)::bigint from rule_decisions where root_job = $1) as fuel,
    (select coalesce(sum(fuel), 0)::bigint from rule_decisions where decided_at >= date_trunc('day', now(), 'UTC') and fuel > 0) as fuel_today
