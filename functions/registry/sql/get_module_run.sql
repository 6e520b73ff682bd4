select * from module_runs where module = $1 and id = $2
