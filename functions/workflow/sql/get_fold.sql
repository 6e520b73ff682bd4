select value, object from aggregations where job_id = $1 and run = $2
