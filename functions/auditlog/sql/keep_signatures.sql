-- The receipt is made: what agents have signed is that of the receipt that is there.
update receipt_signatures set making = false where job_id = $1 and making
