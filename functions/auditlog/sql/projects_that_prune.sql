-- Projects whose logs keep the content of records for so many days only; $1 is what the server says.
select id, coalesce(audit_days, $1::int) as days from projects where coalesce(audit_days, $1::int) > 0 order by id
