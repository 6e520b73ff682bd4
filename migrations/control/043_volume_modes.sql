-- A machine has a volume in the mode in which its owner shows it. What functions write to is another folder for each project and function, and of no use to
-- one that wants to read a certain copy of something.
create or replace function has_volume(have jsonb, project uuid, wanted jsonb) returns boolean language sql immutable as $$
    select exists (
        select from jsonb_array_elements(have) h
        where h ->> 'name' = wanted ->> 'name' and h ->> 'mode' = wanted ->> 'mode'
          and (wanted ->> 'fingerprint' is null or h ->> 'fingerprint' = wanted ->> 'fingerprint')
          and (h -> 'projects' is null or h -> 'projects' ? project::text)
    )
$$;

-- The volumes that a function only reads, of all that it wants: servers that execute shards must have these. For those that it writes to they make empty
-- folders.
create function volumes_read(wanted jsonb) returns jsonb language sql immutable as $$
    select coalesce(jsonb_agg(w), '[]') from jsonb_array_elements(wanted) w where w ->> 'mode' <> 'rw'
$$;
