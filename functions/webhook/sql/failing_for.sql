-- For how long no try has worked; zero: the last one did.
select coalesce(now() - failing_since, interval '0') from webhooks where id = $1
