-- Attempts of an agent that ended without an answer at shards to which somebody else gave one.
alter table lease_cursors add column unconfirmed bigint not null default 0;
