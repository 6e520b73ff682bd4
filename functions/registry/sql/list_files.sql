-- No name holds the last character of Unicode, so a prefix ends before it.
select name, digest, size, created_at, updated_at, updated_by
from files where name >= $1 and name < $1 || chr(1114111) and name > $2 order by name limit $3
