insert into ostraka.servers (id, seen_at) values ($1, now()) on conflict (id) do update set seen_at = now()
