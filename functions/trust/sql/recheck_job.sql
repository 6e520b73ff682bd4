select state, policy, partition, validator, shards_total as shards, depth, priority, conditions from jobs where id = $1
