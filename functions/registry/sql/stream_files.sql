-- As list_files, all of them.
select name, digest, size from files where name >= $1 and name < $1 || chr(1114111) order by name
