update aggregations set state = 'failed', error = $3, finished_at = now() where job_id = $1 and run = $2 and state = 'folding'
