-- As in next_split, of the job $1.
select id, state, partition, policy, shards_total, split_next, split_offset from jobs where id = $1 for no key update
