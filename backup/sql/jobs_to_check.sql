-- The jobs whose shards are in the database: those of archived and deleted jobs are gone, or on their way.
select id from jobs j where state <> 'deleting'
    and not exists (select from archives a where a.job_id = j.id and a.state in ('removing', 'archived'))
order by id
