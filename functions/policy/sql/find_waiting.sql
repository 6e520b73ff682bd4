-- What a version of a rule asks already about an operation, or about what of this kind happens to a job.
select id from guardian_approvals
where (job is null and $3::uuid is null and digest = $1 or job = $3 and kind = $4) and layer = $5 and rule = $6 and rule_version = $7
    and state = 'waiting' and expires_at > $2 order by id desc limit 1
