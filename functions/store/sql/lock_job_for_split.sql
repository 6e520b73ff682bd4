-- As in lock_job: agents lease the first chunks while later ones are made.
select state, partition, policy, shards_total, split_next, split_offset from jobs where id = $1 for no key update
