select id from jobs where state <> 'deleting' order by id
