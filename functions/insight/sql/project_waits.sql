-- The flag of an owner's share needs no decision.
select (select count(*) from (select from flags where resolved_at is null and kind <> 'share' limit 10000) f) as flags,
    (select count(*) from (select from incidents where created_at > now() - interval '7 days' limit 10000) i) as incidents,
    (select count(*) from guardian_approvals where state = 'waiting' and expires_at > now()) as approvals,
    (select count(*) from webhooks where failing_since is not null) as failing_webhooks
