-- Shards whose results further agents audit are drawn for owners: a lease looks for them before it takes any.
create index shards_to_audit on shards (job_id, number) where state = 'open' and wanted > 0 and support > 1;
