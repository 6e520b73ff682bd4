-- Of an object that something is about to refer to. It waits where the collector looks at the object at this moment.
update objects set look_at = now() + interval '1 day' where project_id = $1 and digest = any($2::text[]) and look_at < now() + interval '23 hours'
