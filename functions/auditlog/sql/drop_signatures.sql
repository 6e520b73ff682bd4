delete from receipt_signatures where job_id = $1 and making = $2
