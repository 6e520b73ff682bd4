-- Audits that an agent has passed before the server, or before owners that had a record themselves: where no server executes shards only
-- these owners' votes speak against anybody. What was passed before does not say before whom, and counts for nothing here.
alter table trust add column vouched bigint not null default 0;
