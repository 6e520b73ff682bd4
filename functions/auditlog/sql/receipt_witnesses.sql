-- Who has co-signed the head that agents of most owners have co-signed, of those after $2 records and up to $3: one agent of each owner, $4 at most.
-- Of very many cosignatures the newest are looked at: a download waits for this.
with cosigned as (
    select c.agent_id, c.size, c.at, c.note, c.line, w.key,
        coalesce(nullif(ostraka.owner_at(c.agent_id, $1), ''), c.agent_id::text) as hand
    from cosignatures c join witness_keys w on w.agent_id = c.agent_id
    where c.project_id = $1 and c.size > $2 and c.size <= $3
    order by c.size desc limit 10000
), best as (
    select size from cosigned group by size order by least(count(distinct hand), $4) desc, size desc limit 1
)
select agent_id, size, note, line, key from (
    select distinct on (hand) agent_id, size, note, line, key from cosigned where size = (select size from best) order by hand, at desc, agent_id
) one_of_each order by agent_id limit $4
