package main

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// What is here already is not sent again: the guardian may ask a person about each time, and a yes holds for one.

// functionsHere are the versions of a function that the project has, by their digests.
func (i *projectImport) functionsHere(ctx context.Context, name string) (map[string]int64, error) {
	all, err := everything[client.FunctionVersion]("listing the versions of "+name, func(cursor *string, size *int64) (*http.Response, error) {
		return i.c.ListFunctionVersions(ctx, i.c.project, name, &client.ListFunctionVersionsParams{Cursor: cursor, Limit: size})
	})
	here := map[string]int64{}
	if isNotFound(err) {
		return here, nil
	}
	for _, v := range all {
		here[v.Digest] = v.Version
	}
	return here, err
}

// modulesHere are the versions of a module that the project has, by their digests.
func (i *projectImport) modulesHere(ctx context.Context, name string) (map[string]int64, error) {
	here := map[string]int64{}
	newest, err := answer.Read[client.Module](i.c.GetModule(ctx, i.c.project, name, &client.GetModuleParams{}))
	if isNotFound(err) {
		return here, nil
	}
	if err != nil {
		return nil, explain("getting the module "+name, err)
	}
	here[newest.Value.Digest] = newest.Value.Version
	for version := int64(1); version < newest.Value.Version; version++ {
		doc, err := answer.Read[client.Module](i.c.GetModule(ctx, i.c.project, name, &client.GetModuleParams{Version: &version}))
		if err != nil {
			return nil, explain("getting the module "+name, err)
		}
		here[doc.Value.Digest] = version
	}
	return here, nil
}

// runtimesHere are the names of the project's runtimes, by their digests.
func (i *projectImport) runtimesHere(ctx context.Context) (map[string]string, error) {
	all, err := everything[client.Runtime]("listing runtimes", func(cursor *string, size *int64) (*http.Response, error) {
		return i.c.ListRuntimes(ctx, i.c.project, &client.ListRuntimesParams{Cursor: cursor, Limit: size})
	})
	here := map[string]string{}
	for _, r := range all {
		here[r.Digest] = r.Name
	}
	return here, err
}

// knownHere notes a version that is here already, and says whether it is.
func (i *projectImport) knownHere(ctx context.Context, what, name, digest string, there int64, lists map[string]map[string]int64, list func(context.Context, string) (map[string]int64, error)) (bool, error) {
	if _, read := lists[name]; !read {
		here, err := list(ctx, name)
		if err != nil {
			return false, err
		}
		lists[name] = here
	}
	version, known := lists[name][digest]
	if !known {
		return false, nil
	}
	i.isNow(what, there, version, nil)
	return true, i.took(what, false, nil)
}
