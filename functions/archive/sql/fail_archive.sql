update archives set state = 'failed', error = left($2, 2000) where job_id = $1 and state = 'writing'
