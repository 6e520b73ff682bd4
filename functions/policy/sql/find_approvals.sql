-- The yeses to an operation that were not used, or, where it is part of a job, to what of this kind happens to that job.
select id, layer, rule, rule_version, decided_by, why, case when job is null then expires_at end as expires_at from guardian_approvals
where state = 'approved' and (job is null and digest = $1 and expires_at > $2 or job = $3 and kind = $4) order by id desc limit $5
