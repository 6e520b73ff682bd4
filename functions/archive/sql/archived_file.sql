select results from archives where job_id = $1 and state in ('removing', 'archived')
