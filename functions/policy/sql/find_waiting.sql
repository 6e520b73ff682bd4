select id from guardian_approvals where (digest = $1 or job = $3 and rule = $4) and state = 'waiting' and expires_at > $2 order by id desc limit 1
