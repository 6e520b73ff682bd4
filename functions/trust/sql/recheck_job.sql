select state, policy, partition, validator from jobs where id = $1
