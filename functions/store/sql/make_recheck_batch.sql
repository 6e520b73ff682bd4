-- Where something waits and no batch is about to take it up, one more, up to $2 of them at a time.
insert into recheck_batches (id)
select $1 where exists (select from rechecks where batch is null)
  and not exists (select from recheck_batches where started_at is null) and (select count(*) from recheck_batches) < $2
