package bundle

import "fmt"

// What a handler is called with, once for each: see Manifest.Per.
const (
	// PerShard calls the handler once a shard, with the shard's input.
	PerShard = "shard"
	// PerItem calls it once for each item of the shard: the result of the shard is the list of the items' results.
	PerItem = "item"
)

// IsPerItem says whether the handler takes items instead of shards.
func (m *Manifest) IsPerItem() bool { return m.Per == PerItem }

// per reads what the handler is called with. The usual is kept as nothing, so that manifests that do not speak of it stay as they are.
func (f *manifestFile) per() (string, error) {
	switch per := or(f.Per, PerShard); per {
	case PerShard:
		return "", nil
	case PerItem:
		return per, nil
	default:
		return "", noPer(per)
	}
}

func noPer(per string) error {
	return fmt.Errorf("per = %q: write %q, or %q, which is what it is without the line", per, PerItem, PerShard)
}

// checkPer refuses items where nothing can take them one by one.
func (m *Manifest) checkPer() error {
	switch {
	case m.Per == "":
		return nil
	case m.Per != PerItem:
		return noPer(m.Per)
	case m.IsWasm():
		return fmt.Errorf("per = %q is for handlers in Python: a function with runtime = %q gets shards, so take the line out and have it go through its input", PerItem, RuntimeWasm)
	case m.Script != "":
		return fmt.Errorf("per = %q is for a handler, and script = %q is a program that reads its shard: write entrypoint in the place of script, or take the line out", PerItem, m.Script)
	}
	return nil
}
