// Package client speaks to an Ostraka server. The types and methods in client.gen.go are generated from openapi.yaml; the rest is written
// by hand: making a connection, and reading the streams of events and results, which generated methods would gather in
// memory first (so use the methods of Client for them, not those of ClientWithResponses).
//
// Free-form JSON (inputs, outputs, aggregates, parameters) is json.RawMessage: integers of any size pass unharmed.
package client
