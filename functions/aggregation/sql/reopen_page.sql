update pages set reopened = reopened + 1 where job_id = $1 and number = $2
