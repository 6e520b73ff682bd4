insert into recheck_progress (long) select long from recheck_batches where id = $1
on conflict (long) do update set at = now()
