select kind, rule, count(*) as flags, sum(times)::bigint as times from flags
where job_id = $1 and resolved_at is null group by kind, rule order by kind, rule limit $2
