select detail ->> 'operation' as operation, detail ->> 'decision' as decision, count(*) as count, max(at) as last_at from audit
where action = 'guardian.decide' and pruned_at is null and at >= $1
group by 1, 2 order by 3 desc, 1, 2 limit $2
