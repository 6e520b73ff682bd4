select count(*) from guardian_approvals where state = 'waiting' and expires_at > $1
