delete from recheck_spent where day < (now() at time zone 'utc' - $1::interval)::date
