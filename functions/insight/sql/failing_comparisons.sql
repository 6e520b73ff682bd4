-- How many shards of a job wait for a validator that fails, and what it said last.
select count(*) as shards, coalesce((array_agg(error order by failed_at desc))[1], '') as error, coalesce(max(failures), 0) as failures
from comparison_failures where job_id = $1 and not given_up
