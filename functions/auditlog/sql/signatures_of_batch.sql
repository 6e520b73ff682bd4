-- What agents have signed, of one batch of a receipt that is there; of a key with the number of its record in the log.
select r.line, a.leaf from receipts m
join receipt_signatures r on r.job_id = m.job_id and r.making = m.signatures and r.batch = $2
left join agent_keys k on r.kind = 0 and k.agent_id = r.id
left join audit a on a.seq = k.record_seq
where m.job_id = $1 order by r.place
