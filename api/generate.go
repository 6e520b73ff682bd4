package api

//go:generate go run ./internal/genopenapi ../openapi.yaml
