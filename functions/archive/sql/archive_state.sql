select state, asked_by from archives where job_id = $1
