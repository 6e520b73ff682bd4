select s.number from shards s join jobs j on j.id = s.job_id where j.id = $1 and j.state in ('finished', 'failed') and s.awaits is not null
