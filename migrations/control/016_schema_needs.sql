-- What a program must know to work on the schemas, so that one that is older than they are can tell whether it may serve. A migration
-- that breaks servers of before raises oldest to its own number; one that does not, and that is the rule, leaves it alone.
create table schema_needs (
    kind   text primary key check (kind in ('control', 'project')),
    oldest integer not null default 0, -- the number of the migration that a program must know at least
    newest integer not null default 0  -- how far schemas of this kind have been migrated: a project must not be made behind the others
);
insert into schema_needs (kind) values ('control'), ('project');
