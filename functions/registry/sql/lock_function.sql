-- The no-op update locks the function's row, so that two pushes number their versions one after the other.
insert into functions (id, name) values ($1, $2) on conflict (name) do update set name = excluded.name returning id
