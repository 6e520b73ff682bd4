package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// objects sends what the server does not have.
func (i *projectImport) objects(ctx context.Context) error {
	var missing []localFile
	for part := range slices.Chunk(i.m.Objects, askedAtOnce) {
		digests := make([]string, len(part))
		for n, o := range part {
			digests[n] = o.Digest
		}
		doc, err := answer.Read[client.MissingObjects](i.c.FindMissingObjects(ctx, i.c.project, nil, client.MissingObjectsRequest{Digests: digests}))
		if err != nil {
			return explain("asking which objects the server has", err)
		}
		for _, o := range part {
			if slices.Contains(doc.Value.Missing, o.Digest) {
				missing = append(missing, localFile{path: i.dir.object(o.Digest), name: o.Digest, size: o.Bytes})
			}
		}
	}
	i.result.Made += int64(len(missing))
	i.result.There += int64(len(i.m.Objects) - len(missing))
	return explain("sending objects (the same command continues)", newUpload(i.t, i.c).objects(ctx, missing))
}

func (i *projectImport) runtimes(ctx context.Context) error {
	here, err := i.runtimesHere(ctx)
	if err != nil {
		return err
	}
	for _, r := range i.m.Runtimes {
		if here[r.Digest] == r.Name {
			if err := i.took("runtime "+r.Name, false, nil); err != nil {
				return err
			}
			continue
		}
		doc, err := answer.Read[client.Runtime](i.c.AddRuntime(ctx, i.c.project, nil, client.NewRuntime{Name: r.Name, Digest: r.Digest}))
		if err := i.tookCode("runtime "+r.Name, doc.Status == http.StatusCreated, explain("making it", err)); err != nil {
			return err
		}
	}
	return nil
}

func (i *projectImport) modules(ctx context.Context) error {
	here := map[string]map[string]int64{}
	for _, m := range i.m.Modules {
		what := fmt.Sprintf("module %s version %d", m.Name, m.Version)
		if known, err := i.knownHere(ctx, what, m.Name, m.Digest, m.Version, here, i.modulesHere); err != nil {
			return err
		} else if known {
			continue
		}
		doc, err := pushStored[client.Module](i, m.Digest, func(in *os.File) (*http.Response, error) {
			return i.c.PushModuleWithBody(ctx, i.c.project, &client.PushModuleParams{Name: m.Name, Kind: new(client.PushModuleParamsKind(m.Kind))}, "application/wasm", in)
		})
		i.isNow(what, m.Version, doc.Value.Version, err)
		if err := i.tookCode(what, doc.Status == http.StatusCreated, explain("pushing it", err)); err != nil {
			return err
		}
	}
	return nil
}

// functions pushes all versions in their order, so that a project that had none has them under the same numbers.
func (i *projectImport) functions(ctx context.Context) error {
	here := map[string]map[string]int64{}
	for _, f := range i.m.Functions {
		what := fmt.Sprintf("function %s version %d", f.Name, f.Version)
		if known, err := i.knownHere(ctx, what, f.Name, f.Digest, f.Version, here, i.functionsHere); err != nil {
			return err
		} else if known {
			continue
		}
		doc, err := pushStored[client.FunctionVersion](i, f.Digest, func(in *os.File) (*http.Response, error) {
			return i.c.PushFunctionWithBody(ctx, i.c.project, &client.PushFunctionParams{}, octetStream, in)
		})
		i.isNow(what, f.Version, doc.Value.Version, err)
		if err := i.tookCode(what, doc.Status == http.StatusCreated, explain("pushing it", err)); err != nil {
			return err
		}
	}
	return nil
}

// pushStored sends an object of the export as the body of a request.
func pushStored[T any](i *projectImport, digest string, push func(in *os.File) (*http.Response, error)) (doc answer.Document[T], err error) {
	in, err := os.Open(i.dir.object(digest))
	if err != nil {
		return doc, fmt.Errorf("reading an object: %w", err)
	}
	defer in.Close()
	return answer.Read[T](push(in))
}

// isNow notes which number a version has here.
func (i *projectImport) isNow(what string, there, here int64, err error) {
	if err != nil {
		return
	}
	i.versions[what] = here
	if here != there {
		i.result.Changed = append(i.result.Changed, fmt.Sprintf("%s is version %d here", what, here))
	}
}

// versionHere is the number that a version of a function, module or workflow has here, if it is here; 0 stays the newest.
func (i *projectImport) versionHere(kind, name string, version int64) (here int64, known bool) {
	if version == 0 {
		return 0, true
	}
	here, known = i.versions[fmt.Sprintf("%s %s version %d", kind, name, version)]
	return here, known
}

// isWithout notes what is left out, since a version of which it is made did not come along.
func (i *projectImport) isWithout(what, without string) {
	i.result.Failed = append(i.result.Failed, what+": the version of the "+without+" that it names is not in the export")
}

// tookCode notes what became of code, and stops at the first that is refused: a later version before it would have its number, and what is
// newest decides what runs.
func (i *projectImport) tookCode(what string, made bool, err error) error {
	var problem *answer.Error
	if !errors.As(err, &problem) || problem.Temporary() {
		return i.took(what, made, err)
	}
	hint := firstOf(problem.Hint, "when the reason is gone, run the same command again")
	if errors.Is(err, errApprovalNeeded) { // the server's hint names the approval
		hint += ": ostraka project import continues"
	}
	return &exitError{code: exitCode(err), err: fmt.Errorf("%s: %w; nothing after it was imported, so that versions keep their order", what, err), hint: hint}
}

func (i *projectImport) files(ctx context.Context) error {
	there, err := everything[client.NamedFile]("listing files", func(cursor *string, size *int64) (*http.Response, error) { return i.c.files(ctx, "", cursor, size) })
	if err != nil {
		return err
	}
	known := map[string]string{}
	for _, f := range there {
		known[f.Name] = f.Digest
	}
	for _, f := range i.m.Files {
		switch known[f.Name] {
		case f.Digest:
			err = i.took("file "+f.Name, false, nil)
		case "":
			_, err = answer.Read[client.NamedFile](i.c.NameFile(ctx, i.c.project, nil, client.FileRequest{Name: f.Name, Digest: f.Digest}))
			err = i.took("file "+f.Name, true, explain("naming it", err))
		default:
			i.isOther("file " + f.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isOther notes that something of that name is here already, and is another one. It stays as it is.
func (i *projectImport) isOther(what string) {
	i.result.Failed = append(i.result.Failed, what+": there is another one of that name here, which stays as it is")
}

// workflows pushes the versions in their order, those that are not here.
func (i *projectImport) workflows(ctx context.Context) error {
	here := map[string][]client.WorkflowDetail{}
	for _, w := range i.m.Workflows {
		what := fmt.Sprintf("workflow %s version %d", w.Name, w.Version)
		if _, read := here[w.Name]; !read {
			versions, err := i.workflowVersions(ctx, w.Name)
			if err != nil {
				return err
			}
			here[w.Name] = versions
		}
		is := slices.IndexFunc(here[w.Name], func(d client.WorkflowDetail) bool { return sameWorkflow(w, d) })
		if is >= 0 {
			i.isNow(what, w.Version, here[w.Name][is].Version, nil)
			if err := i.took(what, false, nil); err != nil {
				return err
			}
			continue
		}
		doc, err := answer.Read[client.WorkflowDetail](i.c.PushWorkflow(ctx, i.c.project, nil, i.workflowRequest(w)))
		i.isNow(what, w.Version, doc.Value.Version, err)
		if err == nil && doc.Value.Digest != w.Digest {
			i.result.Changed = append(i.result.Changed, what+" takes the newest versions of the modules that are not of its folder, which were others when it was pushed")
		}
		if err := i.tookCode(what, true, explain("pushing it", err)); err != nil {
			return err
		}
	}
	return nil
}

// workflowVersions are those that the project has already.
func (i *projectImport) workflowVersions(ctx context.Context, name string) (all []client.WorkflowDetail, err error) {
	newest, err := answer.Read[client.WorkflowDetail](i.c.GetWorkflow(ctx, i.c.project, name, &client.GetWorkflowParams{}))
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain("getting the workflow "+name, err)
	}
	for version := int64(1); version < newest.Value.Version; version++ {
		doc, err := answer.Read[client.WorkflowDetail](i.c.GetWorkflow(ctx, i.c.project, name, &client.GetWorkflowParams{Version: &version}))
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return nil, explain("getting the workflow "+name, err)
		}
		all = append(all, doc.Value)
	}
	return append(all, newest.Value), nil
}

// sameWorkflow says whether a version is one of the export, whatever modules it takes.
func sameWorkflow(w exportedWorkflow, d client.WorkflowDetail) bool {
	sameFunctions := slices.EqualFunc(w.Functions, d.Functions, func(a, b client.PinnedFunction) bool { return a.Name == b.Name && a.Digest == b.Digest })
	sameFiles := slices.EqualFunc(w.Files, d.Files, func(a, b client.PinnedFile) bool { return a.Name == b.Name && a.Digest == b.Digest })
	return w.Definition == d.Definition && sameFunctions && sameFiles
}

// workflowRequest pushes a version with what its names stood for.
func (i *projectImport) workflowRequest(w exportedWorkflow) client.PushWorkflowRequest {
	request := client.PushWorkflowRequest{Definition: w.Definition, Functions: []client.WorkflowFunctionRequest{}, Paused: true}
	for _, f := range w.Functions {
		here, known := i.versionHere("function", f.Function, f.Version)
		if !known {
			continue // the server says that it is missing
		}
		request.Functions = append(request.Functions, client.WorkflowFunctionRequest{Name: f.Name, Function: f.Function, Version: here})
	}
	for _, f := range w.Files {
		request.Files = append(request.Files, client.WorkflowFileRequest{Name: f.Name, Digest: f.Digest})
	}
	definition, err := graph.Read([]byte(w.Definition))
	if err != nil {
		return request // the server says what is wrong with it
	}
	for _, m := range w.Modules {
		ofFolder := slices.ContainsFunc(definition.Modules, func(of graph.ModuleFile) bool { return of.Name == m.Name })
		if here, known := i.versionHere("module", m.Name, m.Version); known && here > 0 && ofFolder {
			request.Modules = append(request.Modules, client.WorkflowModuleRequest{Name: m.Name, Version: here})
		}
	}
	return request
}

// deprecations keep new jobs from modules that had been deprecated. They come late: a workflow of the export may use one.
func (i *projectImport) deprecations(ctx context.Context) error {
	said := map[string]bool{}
	for _, m := range i.m.Modules {
		if m.Deprecated == "" || said[m.Name] {
			continue
		}
		said[m.Name] = true
		_, err := answer.Read[client.Module](i.c.DeprecateModule(ctx, i.c.project, m.Name, nil, client.DeprecateModuleInputBody{Deprecated: true, Reason: m.Deprecated}))
		if err := i.took("module "+m.Name, false, explain("deprecating it", err)); err != nil {
			return err
		}
	}
	return nil
}
