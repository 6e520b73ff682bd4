select detail ->> 'operation' as operation, detail ->> 'decision' as decision, count(*) as count, max(at) as last_at from server_audit
where action = 'guardian.decide' and at >= $1
group by 1, 2 order by 3 desc, 1, 2 limit $2
