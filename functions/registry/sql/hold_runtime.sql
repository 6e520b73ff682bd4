-- So that it stays for as long as the transaction.
select id, name, digest, platform, python, bytes, files, pieces, created_by, created_at from runtimes where digest = $1 for share
