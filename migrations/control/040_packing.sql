-- From when on servers may pack the attempts of ended jobs (project/059). A server of before does not read packed ones, and an upgrade has
-- both: so it begins a day after the migration, or at once where there is nothing yet.
create table packing (
    one     boolean primary key default true check (one),
    from_at timestamptz not null
);
insert into packing (from_at) select case when exists (select from projects) then now() + interval '1 day' else now() end;
