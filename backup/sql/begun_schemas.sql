-- What of an installation is in the database, whole or not.
select nspname::text from pg_namespace where nspname ~ '^(ostraka|river|project_[0-9a-f]{32})$' order by 1
