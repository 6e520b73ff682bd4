-- The module of an aggregation works again.
update aggregations set trouble = '', tries = 0 where job_id = $1 and run = $2 and trouble <> ''
