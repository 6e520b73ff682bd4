-- What agents have signed, of one batch of a receipt that is there; of a key with the number of its record in the log. Lines of a receipt that was made
-- elsewhere are of no making.
select r.line, a.leaf from receipt_signatures r
left join agent_keys k on r.kind = 0 and k.agent_id = r.id
left join audit a on a.seq = k.record_seq
where r.job_id = $1 and r.making = coalesce((select m.signatures from receipts m where m.job_id = $1), 0) and r.batch = $2
order by r.place
