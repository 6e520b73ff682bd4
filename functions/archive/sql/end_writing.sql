-- From here on the file is what is read.
update archives set state = 'removing', results = $2, results_bytes = $3, results_rows = $4, document = $5, document_bytes = $6,
    accepted = $7, provisional = $8, review = $9, failed = $10, cancelled = $11, attempts = $12, verification = $13, written_at = now()
where job_id = $1 and state = 'writing'
