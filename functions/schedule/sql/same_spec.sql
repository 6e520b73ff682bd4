-- Whether a schedule says what it shall say. Postgres compares values: a number may be written in several ways.
select spec = $2::jsonb from schedules where id = $1
