update guardian_approvals set state = 'used', used_at = now() where id = $1 and state = 'approved'
