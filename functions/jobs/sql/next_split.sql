-- The job that has waited longest for its next chunk; one that was just submitted has waited longest of all. As in lock_job: agents lease
-- the first chunks while later ones are made.
select id, state, partition, policy, shards_total, split_next, split_offset from jobs
where state = 'splitting' and split_at < 'infinity' order by split_at, id limit 1 for no key update
