update guardian_approvals set state = $2, decided_by = $3, why = $4, decided_at = now() where id = $1
