-- Forgets with whom a pardoned agent was wrong alike, or others of its owner (see functions/trust/hands.go). Rows are locked in the order in which
-- they are written.
with hands as (
    select distinct case when owner <> '' then 'owner ' || owner else 'agent ' || agent_id end as hand from lease_cursors where agent_id = $1
),
locked as (
    select one, other, job_id, shard from wrong_alike where one in (select hand from hands) or other in (select hand from hands)
    order by one, other, job_id, shard for update
)
delete from wrong_alike w using locked l where (w.one, w.other, w.job_id, w.shard) = (l.one, l.other, l.job_id, l.shard)
