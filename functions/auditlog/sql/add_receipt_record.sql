insert into audit (actor, action, subject, detail) values ($1, $2, $3, $4::jsonb) returning seq, at, actor, action, subject, detail
