-- Of a plain script stdout is the result: agents must agree on all of it, and not only on what it says. A lease says so, for what it is
-- signed for to be built again from what is stored.
alter table leases add column script boolean not null default false;
