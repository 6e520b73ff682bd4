select id, kind, subject, facts, asked, layer, rule, rule_version, risk, reason, job, requested_by, created_at, expires_at, state, decided_by, decided_at, why
from guardian_approvals where id = $1 for update
