update agents set state = 'revoked' where id = $1
