-- A statement of its own, before remove_page: whoever adds something to a shard has locked it, and this waits for them.
delete from shards where job_id = $1 and number >= $2 and number < $3
