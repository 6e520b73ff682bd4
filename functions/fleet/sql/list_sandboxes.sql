-- Sandboxes, the newest last; of a project ($3), an agent ($4), a job ($5) or a function ($6), and those that run ($7) or all.
select * from shown_sandboxes
where id > $1 and ($3::uuid is null or project = $3) and ($4::uuid is null or agent = $4) and ($5::uuid is null or job = $5)
  and ($6 = '' or function = $6) and (not $7::boolean or state = 'running')
order by id limit $2
