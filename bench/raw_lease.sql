with picked as (
    select number from raw.shards where job_id = $1 and state = 'open' and wanted > 0 order by number limit $2 for update skip locked
)
update raw.shards s set wanted = 0 from picked where s.job_id = $1 and s.number = picked.number returning s.number
