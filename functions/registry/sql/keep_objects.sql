insert into kept_objects (digest) select unnest($1::text[]) on conflict do nothing
