package api

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

// reference is what the page of the API shows.
type reference struct {
	Title, Version, About string
	Groups                []group
	Schemas               []namedSchema
}

type group struct {
	Name, About string
	Operations  []shownOperation
}

type shownOperation struct {
	*huma.Operation
	Roles   string
	Body    []shownContent
	Answers []shownAnswer
}

type shownContent struct {
	MediaType string
	Schema    *huma.Schema
}

type shownAnswer struct {
	Status, About string
	Content       []shownContent
}

type namedSchema struct {
	Name string
	*huma.Schema
}

func newReference(spec *huma.OpenAPI) reference {
	r := reference{Title: spec.Info.Title, Version: spec.Info.Version, About: spec.Info.Description}
	for _, tag := range spec.Tags {
		r.Groups = append(r.Groups, group{Name: tag.Name, About: tag.Description, Operations: operationsOf(spec, tag.Name)})
	}
	schemas := spec.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		r.Schemas = append(r.Schemas, namedSchema{name, schemas[name]})
	}
	return r
}

// operationsOf are the operations of a tag, by path and then in the order in which one meets them: post, get, put, patch, delete.
func operationsOf(spec *huma.OpenAPI, tag string) []shownOperation {
	var all []shownOperation
	for _, path := range slices.Sorted(maps.Keys(spec.Paths)) {
		item := spec.Paths[path]
		for _, op := range []*huma.Operation{item.Post, item.Get, item.Put, item.Patch, item.Delete} {
			if op != nil && slices.Contains(op.Tags, tag) {
				all = append(all, showOperation(op))
			}
		}
	}
	return all
}

func showOperation(op *huma.Operation) shownOperation {
	shown := shownOperation{Operation: op, Roles: rolesOf(op)}
	if op.RequestBody != nil {
		shown.Body = showContent(op.RequestBody.Content)
	}
	for status, answer := range op.Responses {
		if status != "default" {
			shown.Answers = append(shown.Answers, shownAnswer{status, answer.Description, showContent(answer.Content)})
		}
	}
	slices.SortFunc(shown.Answers, func(a, b shownAnswer) int { return cmp.Compare(a.Status, b.Status) })
	return shown
}

func rolesOf(op *huma.Operation) string {
	if roles, ok := op.Extensions[rest.RolesExtension].([]functions.Role); ok {
		return "key of role " + rest.RoleList(roles)
	}
	for _, scheme := range op.Security {
		if _, ok := scheme[rest.SchemeEnrolment]; ok {
			return "enrolment token, or nobody yet"
		}
	}
	return "anyone"
}

func showContent(content map[string]*huma.MediaType) []shownContent {
	var all []shownContent
	for _, mediaType := range slices.Sorted(maps.Keys(content)) {
		all = append(all, shownContent{mediaType, content[mediaType].Schema})
	}
	return all
}

// describeSchema says in a few words what a value is, with links to the schemas that it refers to.
func describeSchema(s *huma.Schema) template.HTML {
	if s == nil {
		return "any"
	}
	ref := s.Ref
	if shown, ok := s.Extensions["$ref"].(string); ok {
		ref = shown
	}
	if name, ok := strings.CutPrefix(ref, rest.SchemaPrefix); ok {
		name = template.HTMLEscapeString(name)
		return template.HTML(fmt.Sprintf(`<a href="#schema-%s">%s</a>`, name, name)) //nolint:gosec // escaped above
	}
	switch {
	case s.Type == "":
		return "any JSON"
	case s.Type == huma.TypeArray:
		return "array of " + describeSchema(s.Items)
	case s.Type == huma.TypeObject && s.AdditionalProperties != nil && len(s.Properties) == 0:
		if value, ok := s.AdditionalProperties.(*huma.Schema); ok {
			return "object of " + describeSchema(value)
		}
	}
	return template.HTML(template.HTMLEscapeString(s.Type + constraints(s))) //nolint:gosec // escaped here
}

func constraints(s *huma.Schema) string {
	text := ""
	if format, ok := s.Extensions["format"].(string); ok {
		text += ", " + format
	} else if s.Format != "" && s.Format != "int64" && s.Format != "double" {
		text += ", " + s.Format
	}
	if s.ContentEncoding != "" {
		text += ", " + s.ContentEncoding
	}
	if len(s.Enum) > 0 {
		text += ": " + strings.Trim(fmt.Sprint(s.Enum), "[]")
	}
	if s.Minimum != nil {
		text += fmt.Sprintf(", from %g", *s.Minimum)
	}
	if s.Maximum != nil {
		text += fmt.Sprintf(", to %.0f", *s.Maximum)
	}
	if s.MaxLength != nil {
		text += fmt.Sprintf(", up to %d characters", *s.MaxLength)
	}
	if s.MaxItems != nil {
		text += fmt.Sprintf(", up to %d", *s.MaxItems)
	}
	if s.Pattern != "" {
		text += ", " + s.Pattern
	}
	if s.Default != nil {
		text += fmt.Sprintf(", default %v", s.Default)
	}
	return text
}

// markdown turns the little of Markdown that our descriptions use (paragraphs, `code`, **bold**) into HTML.
func markdown(text string) template.HTML {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph == "" {
			continue
		}
		out.WriteString("<p>")
		for i, part := range strings.Split(template.HTMLEscapeString(paragraph), "`") {
			if i%2 == 1 {
				out.WriteString("<code>" + part + "</code>")
				continue
			}
			for j, piece := range strings.Split(part, "**") {
				if j%2 == 1 {
					piece = "<strong>" + piece + "</strong>"
				}
				out.WriteString(piece)
			}
		}
		out.WriteString("</p>\n")
	}
	return template.HTML(out.String()) //nolint:gosec // the text was escaped and the tags are ours
}

// serveDocs mounts the documentation.
func (s *server) serveDocs() error {
	all, err := newDocs(s.Huma.OpenAPI())
	if err != nil {
		return err
	}
	for _, d := range all {
		s.Mux.Handle(http.MethodGet+" "+d.path, d)
	}
	return nil
}
