-- What keeps an aggregation from going on; $4 is 1 where its module has asked for another try.
update aggregations set trouble = left($3::text, 8192), tries = tries + $4::int where job_id = $1 and run = $2 and state = 'folding' returning tries
