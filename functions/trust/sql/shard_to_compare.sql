select j.validator, j.partition, s.input from jobs j join shards s on s.job_id = j.id and s.number = $2 where j.id = $1
