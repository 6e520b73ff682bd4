select place from controls where job_id = $1 and state = 'wrong' order by place
