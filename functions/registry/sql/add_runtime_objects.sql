insert into runtime_objects (runtime, digest) select distinct $1, unnest($2::text[])
