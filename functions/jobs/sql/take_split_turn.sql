-- Where no step makes chunks for the project, or none has for $1, there is to be one.
insert into split_turns as t (one) values (true)
on conflict (one) do update set seen_at = now() where t.seen_at < now() - $1::interval
