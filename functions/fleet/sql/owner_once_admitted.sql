-- Whose machine an agent ($1) is for a project ($2) once it was admitted there with an owner ($3; empty: none is given).
select coalesce((select nullif(owner, '') from agents where id = $1), nullif($3, ''), ostraka.owner_at($1, $2)) as owner
