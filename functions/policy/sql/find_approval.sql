-- The newest yes to an operation that was not used, or to the job that it is part of, for the same rule. $2: an operator's is needed.
select id, decided_by, why, case when job is null then expires_at end as expires_at from guardian_approvals
where (digest = $1 and expires_at > $3 or job = $4 and rule = $5) and state = 'approved' and (not $2 or layer = 'operator') order by id desc limit 1
