select seq, at, type, data from events where job_id = $1 and seq > $2 order by seq limit $3
