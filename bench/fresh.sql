do $$
declare s text;
begin
    for s in select nspname from pg_namespace where nspname like 'project\_%' or nspname in ('ostraka', 'river', 'raw') loop
        execute 'drop schema ' || quote_ident(s) || ' cascade';
    end loop;
end $$
