package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxDetail is how much of a record's detail a list shows, in characters: what is longer is in -o json, and would hide the rows around it.
const maxDetail = 160

// detailText is the detail of an audit record for people: its members in their order, without the punctuation of JSON. What is nested
// stays JSON.
func detailText(detail json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(detail))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return shortened(string(detail))
	}
	var parts []string
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return shortened(string(detail))
		}
		name, _ := key.(string)
		if text := memberText(value); text != "" {
			parts = append(parts, name+" "+text)
		}
	}
	return shortened(strings.Join(parts, ", "))
}

// memberText is a value for people; "" where there is nothing to say.
func memberText(value json.RawMessage) string {
	var text string
	switch err := json.Unmarshal(value, &text); {
	case err == nil: // null is none as well
		return text
	case string(value) == "[]" || string(value) == "{}":
		return ""
	default:
		return string(value)
	}
}

func shortened(text string) string {
	letters := []rune(text)
	if len(letters) <= maxDetail {
		return text
	}
	return string(letters[:maxDetail-1]) + "…"
}
