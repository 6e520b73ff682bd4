package harness

// facts are what agents report about their interpreter.
type facts struct {
	Interpreter string `json:"interpreter,omitempty"`
	Platform    string `json:"platform,omitempty"`
	Libc        string `json:"libc,omitempty"`
}

// named is the interpreter's name for people and for the server, which tells interpreters apart by it.
func (f *facts) named(tree string) string {
	if tree == "" {
		return f.Interpreter
	}
	return f.Interpreter + " (" + tree + ")"
}
