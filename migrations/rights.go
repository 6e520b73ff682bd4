package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Rights are what the database role may do of what servers need.
type Rights struct {
	Role          string
	CreateRoles   bool // each project gets a role of its own
	CreateSchemas bool // and a schema
}

// ReadRights asks the database what its role may do.
func ReadRights(ctx context.Context, pool *pgxpool.Pool) (r Rights, err error) {
	err = pool.QueryRow(ctx, `select rolname, rolsuper or rolcreaterole, has_database_privilege(current_database(), 'create')
from pg_roles where rolname = current_user`).Scan(&r.Role, &r.CreateRoles, &r.CreateSchemas)
	if err != nil {
		return r, fmt.Errorf("looking for the database role's rights: %w", err)
	}
	return r, nil
}
