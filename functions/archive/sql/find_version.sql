-- The version of a function that has the code with a digest.
select f.id as function_id, v.version from functions f join function_versions v on v.function_id = f.id where f.name = $1 and v.digest = $2
