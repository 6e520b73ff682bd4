-- Pairs that were wrong alike on so many shards ($1), but for those of one job ($2).
select one as a, other as b, count(*)::int as times from wrong_alike where job_id <> $2 group by one, other having count(*) >= $1
