package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// maxShownInput is how much of an input or output a table shows, in bytes; -o json shows all.
const maxShownInput = 60

// cut shortens text for a table, and says that it did.
func cut(text string) string {
	if len(text) <= maxShownInput {
		return text
	}
	end := maxShownInput
	for end > 0 && text[end]&0xC0 == 0x80 { // inside a character
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:end], len(text))
}

// yes is an answer as a table shows it.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return "-"
	}
	return id.String()
}

func numberText(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// sizeOf is a number of bytes for people, in three digits or so.
func sizeOf(n int64) string {
	value, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// sinceNow is how long ago something was.
func sinceNow(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return time.Since(*at).Round(time.Second).String() + " ago"
}

// shortTime is a time as a list shows it.
func shortTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func shortTimePtr(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return shortTime(*t)
}

// shortDigest is the start of a digest, enough to recognise it.
func shortDigest(d string) string {
	if len(d) <= 12 {
		return d
	}
	return d[:12]
}

// count is a number of things, in words.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
