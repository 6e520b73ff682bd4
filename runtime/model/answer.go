package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Bounds of what an answer says about an item, in bytes.
const (
	MaxLabel = 64
	MaxWhy   = 4 << 10
)

// maxTokens is the most that is believed of what an endpoint says of its tokens: sums of it fit in a database.
const maxTokens = 1 << 40

// Answer is what the model says about one item.
type Answer struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"` // 0 to 1
	Label string  `json:"label"`
	Why   string  `json:"why"`
}

// ParseAnswer reads a chat completion. Whatever it holds, what comes out are scores of items that were asked about, or an error.
func ParseAnswer(body []byte, ids []string) (list []Answer, tokens int64, err error) {
	refuse := func(format string, args ...any) ([]Answer, int64, error) {
		return nil, tokens, &Error{Message: "the answer is not what was asked for: " + fmt.Sprintf(format, args...), Final: true}
	}
	var completion struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			TotalTokens int64 `json:"total_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &completion); err != nil {
		return refuse("it is no chat completion")
	}
	tokens = min(max(0, completion.Usage.TotalTokens), maxTokens)
	if len(completion.Choices) != 1 {
		return refuse("it has %d choices", len(completion.Choices))
	}
	var said struct {
		Findings *[]Answer `json:"findings"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(completion.Choices[0].Message.Content)))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil || said.Findings == nil {
		return refuse("its text is not the JSON object with findings")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse("there is something after the JSON object")
	}
	seen := map[string]bool{}
	for _, a := range *said.Findings {
		switch {
		case !slices.Contains(ids, a.ID):
			return refuse("it names an item that it was not asked about")
		case seen[a.ID]:
			return refuse("it names an item twice")
		case !(a.Score >= 0 && a.Score <= 1):
			return refuse("a score is not from 0 to 1")
		case a.Label == "" || len(a.Label) > MaxLabel || len(a.Why) > MaxWhy:
			return refuse("a label is not of 1 to %d bytes, or a reason is longer than %d", MaxLabel, MaxWhy)
		case !printable(a.Label) || !printable(a.Why):
			return refuse("a text has control characters")
		}
		seen[a.ID] = true
	}
	return *said.Findings, tokens, nil
}

// printable says whether people and the database can read a text.
func printable(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return false
		}
	}
	return true
}
