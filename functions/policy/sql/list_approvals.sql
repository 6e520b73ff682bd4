select id, kind, subject, facts, asked, layer, rule, rule_version, risk, reason, job, requested_by, created_at, expires_at, state, decided_by, decided_at, why
from guardian_approvals
where id > $1 and ($3 = '' or $3 = case when state in ('waiting', 'approved') and expires_at <= $4 and (job is null or state = 'waiting') then 'expired' else state end)
order by id limit $2
