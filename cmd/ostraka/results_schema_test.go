package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestColumnsOfASchema: they are there without results too, and each has the type that the schema says unless a value would not fit.
func TestColumnsOfASchema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"x":{"type":"number"},"ok":{"type":["boolean","null"]},
		"text":{"type":"string"},"list":{"type":"array"},"any":true,"mixed":{"type":["string","integer"]}}}`)
	declared := []string{
		"shard int(64,true)", "output.any json?", "output.list json?", "output.mixed json?", "output.n int(64,true)?", "output.ok boolean?", "output.text string?", "output.x double?",
		"output_digest string", "agent string", "provisional boolean",
	}
	require.Equal(t, declared, typesOf(parquetWith(t, schema)))
	require.Equal(t, declared, typesOf(parquetWith(t, schema, `{"shard":0,"output":{"n":1,"x":3}}`)), "a whole number is a number")
	f := parquetWith(t, schema, `{"shard":0,"output":{"x":9007199254740993,"later":1}}`)
	require.Contains(t, typesOf(f), "output.x json?", "no digit is lost")
	require.Contains(t, typesOf(f), "output.later int(64,true)?", "what the schema does not name comes after")
	for _, without := range []string{``, `true`, `{"type":"integer"}`, `{"properties":[]}`} {
		require.Len(t, typesOf(parquetWith(t, json.RawMessage(without))), 4, without)
	}
}
