-- Pairs that were wrong alike on so many shards ($1).
select one as a, other as b, count(*)::int as times from wrong_alike group by one, other having count(*) >= $1
