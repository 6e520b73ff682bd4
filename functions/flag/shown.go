package flag

// maxShownOutput is how much of an answer a flag shows, in bytes.
const maxShownOutput = 1 << 10

// Shown is as much of an answer as a flag shows.
func Shown(output []byte) string {
	if len(output) > maxShownOutput {
		return string(output[:maxShownOutput]) + "…"
	}
	return string(output)
}
