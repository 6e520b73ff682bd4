-- The page of an ended job that is to be packed next. No row: none is.
select pack_next from jobs where id = $1 and pack_next is not null and pack_next < pages_total and state in ('finished', 'failed')
    and not exists (select from archives c where c.job_id = $1 and c.state <> 'failed')
for update
