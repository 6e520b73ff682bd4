-- Not `for update`: that would wait for, and hold up, everything that only refers to the job, such as leases and attempts.
select state from jobs where id = $1 for no key update
