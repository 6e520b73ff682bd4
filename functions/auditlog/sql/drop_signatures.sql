-- Up to $2 lines about what agents have signed that are of no receipt any more: the job's was made anew since.
delete from receipt_signatures where ctid = any (array(
    select s.ctid from receipts r join receipt_signatures s on s.job_id = r.job_id and s.making < r.signatures where r.job_id = $1 limit $2
))
