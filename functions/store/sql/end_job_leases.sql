update leases set state = 'revoked' where job_id = $1 and state = 'open' returning id
