-- How many shards of the project could be lent, counted up to $1.
select count(*) from (select from shards where state = 'open' and wanted > 0 limit $1) found
