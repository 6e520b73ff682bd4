-- What an agent has stored under a lease: no more than its shards may leave.
alter table leases
    add column uploads      integer not null default 0,
    add column upload_bytes bigint not null default 0;
