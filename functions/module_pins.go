package functions

// PinnedModule is a module that a workflow uses: what its name stands for.
type PinnedModule struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Version int    `json:"version,omitempty" doc:"Left out for built-in modules."`
	Digest  string `json:"digest" doc:"SHA-256 of the module."`
}

// ModulePins are modules that a job is to use in just these bytes, whatever was pushed since. A module that is not among them is used in
// its newest version.
type ModulePins []PinnedModule

// Digest is what a name of a kind is pinned to; "": nothing.
func (p ModulePins) Digest(kind, name string) string {
	for _, m := range p {
		if m.Kind == kind && m.Name == name {
			return m.Digest
		}
	}
	return ""
}
