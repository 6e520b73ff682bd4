-- The items that have flowed from one rolling step to the next are an object, so that a stretch that came to nothing is tried again with them.
alter table workflow_parts add column items text not null default '';
create index workflow_parts_items on workflow_parts (items) where items <> '';
