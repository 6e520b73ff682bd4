// Package backup copies an installation into a folder, and restores an installation from such a folder.
//
// The database is copied as it was at one moment, by pg_dump. Objects are copied after it: they are never changed, so all that the copy
// of the database refers to is still there as long as none is removed, and none is while a backup holds the lock of collecting.
//
// A folder is a backup once it has its manifest, which is written last and has the digest of every piece. An object's digest is its name.
package backup
