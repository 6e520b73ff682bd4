-- How many leases in a row the agent has given back without a result: each takes a turn of the job.
alter table lease_cursors add column returned integer not null default 0 check (returned >= 0);
