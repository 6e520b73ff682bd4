select verification from archives where job_id = $1
