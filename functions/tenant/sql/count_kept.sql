select coalesce(sum(shards_total), 0)::bigint as results, coalesce(sum(event_seq), 0)::bigint as events from jobs
