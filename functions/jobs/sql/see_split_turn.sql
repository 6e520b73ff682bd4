insert into split_turns (one) values (true) on conflict (one) do update set seen_at = now()
