-- $2 is what a project has that nobody has set anything for; 0: any number.
select coalesce(nullif(p.recheck_seconds, 0), $2::bigint) as per_day, coalesce(s.seconds, 0) as spent
from ostraka.projects p left join ostraka.recheck_spent s on s.project_id = p.id and s.day = (now() at time zone 'utc')::date
where p.id = $1
