-- The objects of projects: whoever stores one writes its row first, so that a row may lack its object, and no object of ours its row. The row
-- is what the collector locks, and what whoever is about to refer to the object moves on. Objects of before have none and stay.
create table objects (
    project_id uuid not null references projects on delete cascade,
    digest     text not null check (digest ~ '^[0-9a-f]{64}$'),
    size       bigint not null check (size >= 0), -- that counts; 0 where only an agent stored it, within what its lease allows
    look_at    timestamptz not null default now() + interval '1 day', -- when the collector looks whether anything refers to it
    primary key (project_id, digest)
);
create index objects_to_look_at on objects (project_id, look_at);

alter table project_usage add column object_bytes bigint not null default 0;

create function count_object() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into ostraka.project_usage as u (project_id, object_bytes) values (new.project_id, new.size)
        on conflict (project_id) do update set object_bytes = u.object_bytes + new.size;
    elsif tg_op = 'UPDATE' then
        update ostraka.project_usage set object_bytes = object_bytes + new.size - old.size where project_id = old.project_id;
    else
        update ostraka.project_usage set object_bytes = object_bytes - old.size where project_id = old.project_id;
    end if;
    return null;
end $$;
create trigger count_object after insert or delete on objects for each row execute function count_object();
create trigger count_object_size after update of size on objects for each row when (new.size <> old.size) execute function count_object();
