select data ->> 'rule' from events where job_id = $1 and type = $2
