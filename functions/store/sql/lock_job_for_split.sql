select state, partition, policy, shards_total, split_next, split_offset from jobs where id = $1 for update
