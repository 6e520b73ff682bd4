-- Databases of test runs whose session is gone. A run's mark is the name up to
-- the last underscore, and the application name of its session.
select datname
from pg_database
where datname like 'ostraka\_test\_%'
  and regexp_replace(datname, '_[0-9]+$', '') not in (select application_name from pg_stat_activity)
