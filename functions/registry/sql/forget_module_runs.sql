delete from module_runs where id in (select id from module_runs where module = $1 order by id desc offset $2)
