-- What else there is of verification and folding, of each table at most $2 rows; returns how many.
with gone_windows as (
    delete from windows where ctid = any (array(select ctid from windows where job_id = $1 limit $2)) returning 1
),
gone_partials as (
    delete from partials where ctid = any (array(select ctid from partials where job_id = $1 limit $2)) returning 1
)
select (select count(*) from gone_windows) + (select count(*) from gone_partials)
