update workflows set newest = $2 where id = $1
