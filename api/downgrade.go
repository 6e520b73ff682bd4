package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"
)

// downgrade writes the specification in OpenAPI 3.0, where nothing may stand beside a reference.
func downgrade(spec *huma.OpenAPI) ([]byte, error) {
	text, err := spec.Downgrade()
	if err != nil {
		return nil, fmt.Errorf("downgrading the specification: %w", err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("reading the downgraded specification: %w", err)
	}
	loneReferences(tree)
	text, err = json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the downgraded specification: %w", err)
	}
	return text, nil
}

func downgradeYAML(spec *huma.OpenAPI) ([]byte, error) {
	text, err := downgrade(spec)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := yaml.Convert(&out, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("writing the downgraded specification: %w", err)
	}
	return out.Bytes(), nil
}

// loneReferences takes away what stands beside each reference.
func loneReferences(tree any) {
	switch node := tree.(type) {
	case map[string]any:
		if _, isReference := node["$ref"].(string); isReference {
			for name := range node {
				if name != "$ref" {
					delete(node, name)
				}
			}
			return
		}
		for _, child := range node {
			loneReferences(child)
		}
	case []any:
		for _, child := range node {
			loneReferences(child)
		}
	}
}
