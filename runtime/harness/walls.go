package harness

// Wall is something that holds functions back at the level `process`, or that
// does not. All of them together are no boundary that strangers' code is held by.
type Wall struct {
	Name   string
	There  bool
	Detail string
}
