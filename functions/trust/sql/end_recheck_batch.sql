delete from recheck_batches where id = $1
