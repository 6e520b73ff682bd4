-- What an aggregation that still folds was last kept from going on by, and how often in a row its module has asked for another try.
alter table aggregations
    add column tries   integer not null default 0 check (tries >= 0),
    add column trouble text not null default '';
