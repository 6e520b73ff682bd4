-- The flag of an owner's share needs no decision.
select count(*) from (select from flags where resolved_at is null and kind <> 'share' limit $1) as counted
