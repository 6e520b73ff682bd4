insert into answer_classes (job_id, shard, outcome, representative, matches, reason) values ($1, $2, $3, $4, $5, left($6::text, 4096))
on conflict do nothing
