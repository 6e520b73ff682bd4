select count(*) from pg_class where relkind = 'r' and relnamespace::regnamespace::text ~ '^(ostraka|river|project_[0-9a-f]{32})$'
