update leases set state = $2 where id = $1 and state = 'open' returning shards, reported
