select exists (select from pg_catalog.pg_database where datname = $1)
