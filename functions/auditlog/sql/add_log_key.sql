insert into log_keys (secret) values ($1) on conflict (one) do nothing
