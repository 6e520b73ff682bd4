update receipts set statement = $2, record_seq = $3, record = $4, draws_seq = $5, draws_record = $6, made_at = now(), making = false, signatures = signatures_making where job_id = $1
