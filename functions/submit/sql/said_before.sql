-- What the planner of a rule has said under a root job before it answered at the end of the job $3, the oldest first.
select said from rule_decisions
where root_job = $1 and rule_id = $2 and job_id <> $3 and said is not null
    and decided_at < coalesce((select decided_at from rule_decisions where job_id = $3 and rule_id = $2 and answer is not null), 'infinity')
order by decided_at, job_id
