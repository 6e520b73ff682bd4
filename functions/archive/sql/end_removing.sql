update archives set state = 'archived', archived_at = now() where job_id = $1 and state = 'removing'
