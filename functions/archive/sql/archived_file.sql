select results as digest, results_bytes as bytes, results_rows as rows from archives where job_id = $1 and state in ('removing', 'archived')
