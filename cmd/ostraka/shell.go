package main

import (
	"strings"
)

// shellQuote makes of a text one word of a shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shellWord quotes only what needs it.
func shellWord(text string) string {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if strings.TrimFunc(text, harmless) == "" {
		return text
	}
	return shellQuote(text)
}
