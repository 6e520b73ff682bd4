select shards_total, pages_total from jobs where id = $1 and state <> 'deleting'
