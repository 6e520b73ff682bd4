-- Of an object that is stored, or is about to be. made: it is new.
insert into objects (project_id, digest, size) values ($1, $2, $3)
on conflict (project_id, digest) do update set look_at = greatest(objects.look_at, now() + interval '1 day')
returning xmax = 0 as made
