package guardian

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
)

// Operation is something that is about to happen.
type Operation struct {
	Kind    Kind   `json:"kind"`
	Project string `json:"project"` // its ID; empty: it is about the whole installation
	Actor   Actor  `json:"actor"`
	Subject string `json:"subject"` // what it is done to, for example primes@3
	Facts   Facts  `json:"facts"`
	// Asked is what was asked for beyond the facts, as JSON. Rules do not see it; a yes is bound to it, and people see it before they give
	// one. It holds no secret, and nothing that is another with each try.
	Asked json.RawMessage `json:"asked,omitempty"`
}

// clocked are facts of which some follow from the clock, and so are others with each try.
type clocked interface {
	// bound are the facts without these: what a yes is bound to.
	bound() Facts
}

// Actor is who has it happen.
type Actor struct {
	Kind string `json:"kind"` // key, session, operator, agent, step
	ID   string `json:"id"`
	Role string `json:"role"`
}

// Check refuses an operation that is not on the list, and one whose facts are those of another.
func (o Operation) Check() error {
	d, known := Describe(o.Kind)
	switch {
	case !known:
		return fmt.Errorf("there is no operation %q%s", o.Kind, Nearest(string(o.Kind), kindNames()))
	case o.Facts == nil || reflect.TypeOf(o.Facts) != reflect.TypeOf(d.Facts):
		return fmt.Errorf("the operation %s came without its facts", o.Kind)
	}
	return nil
}

// Digest names the operation: the SHA-256, in hexadecimal digits, of its canonical JSON. Two operations have one digest only if they
// are the same in every fact and in what was asked for, which is what an approval is bound to. What follows from the clock is left out.
func (o Operation) Digest() (string, error) {
	text, err := o.Canonical()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Canonical is the operation as JSON in which the members of objects are sorted and nothing is escaped that need not be, without what follows
// from the clock.
func (o Operation) Canonical() ([]byte, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if facts, is := o.Facts.(clocked); is {
		o.Facts = facts.bound()
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding the operation %s: %w", o.Kind, err)
	}
	var tree any
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	if err := reader.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encoding the operation %s: %w", o.Kind, err)
	}
	var out bytes.Buffer
	writer := json.NewEncoder(&out)
	writer.SetEscapeHTML(false)
	if err := writer.Encode(tree); err != nil {
		return nil, fmt.Errorf("encoding the operation %s: %w", o.Kind, err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// UnmarshalJSON reads an operation that was recorded. Facts that this version does not know are passed over.
func (o *Operation) UnmarshalJSON(text []byte) error {
	type plain Operation
	var read struct {
		plain
		Facts json.RawMessage `json:"facts"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return fmt.Errorf("reading an operation: %w", err)
	}
	d, known := Describe(read.Kind)
	if !known {
		return fmt.Errorf("reading an operation: there is no operation %q", read.Kind)
	}
	facts := reflect.New(reflect.TypeOf(d.Facts))
	if len(read.Facts) > 0 {
		if err := json.Unmarshal(read.Facts, facts.Interface()); err != nil {
			return fmt.Errorf("reading the facts of an operation %s: %w", read.Kind, err)
		}
	}
	typed, ok := facts.Elem().Interface().(Facts)
	if !ok {
		return fmt.Errorf("reading the facts of an operation %s: they are of no known type", read.Kind)
	}
	*o = Operation(read.plain)
	o.Facts = typed
	return nil
}

func kindNames() []string {
	names := make([]string, len(operations))
	for i, d := range operations {
		names[i] = string(d.Kind)
	}
	return names
}
