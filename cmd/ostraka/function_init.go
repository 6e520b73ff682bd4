package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/examples"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// functionInitOptions are the flags of `ostraka function init`.
type functionInitOptions struct {
	outputFlag
	terminal *terminal
	language string
}

func newFunctionInit(t *terminal) *cobra.Command {
	o := &functionInitOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "init NAME",
		Short: "Make the folder of a function to begin with",
		Long: `Make a folder with a function to begin with, which counts palindromes: it builds with one command, passes
ostraka function check, and is to be changed into what you want. Python needs no build; C, Rust, Go and AssemblyScript are built
into WebAssembly by the folder's build.sh. No server is needed.`,
		Example: "  ostraka function init palindromes --language rust\n  palindromes/build.sh\n  ostraka function check palindromes",
		Args:    arguments(1),
		RunE:    func(_ *cobra.Command, args []string) error { return o.run(args[0]) },
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.language, "language", "python", "in which language: "+strings.Join(examples.StartLanguages(), ", "))
	return cmd
}

// functionStart is what was made, as -o json prints it.
type functionStart struct {
	Folder   string   `json:"folder"`
	Language string   `json:"language"`
	Files    []string `json:"files"`
	Build    string   `json:"build,omitempty"` // the command that builds it
}

func (o *functionInitOptions) run(name string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.checkLanguage(); err != nil {
		return err
	}
	if _, err := bundle.ParseManifest(fmt.Appendf(nil, "name = %q", name)); err != nil {
		return usageError("a function cannot have this name: %w", err)
	}
	files, err := examples.Start(o.language, name, name)
	if errors.Is(err, fs.ErrExist) {
		return &exitError{code: exitUsage, err: err, hint: "choose another name, or go where there is no such folder"}
	}
	if err != nil {
		return err
	}
	made := functionStart{Folder: name, Language: o.language, Files: files}
	if slices.Contains(files, "build.sh") {
		made.Build = filepath.Join(name, "build.sh")
	}
	return o.show(made)
}

// checkLanguage refuses what there is no function to begin with in, by name.
func (o *functionInitOptions) checkLanguage() error {
	switch {
	case slices.Contains(examples.StartLanguages(), o.language):
		return nil
	case o.language == "zig":
		return &exitError{
			code: exitUsage, err: fmt.Errorf("there is no function to begin with in %s yet", o.language),
			hint: "docs/functions-wasm.md has the command that builds one",
		}
	default:
		return usageError("--language %q: choose %s", o.language, strings.Join(examples.StartLanguages(), ", "))
	}
}

func (o *functionInitOptions) show(made functionStart) error {
	if o.json() {
		text, err := json.Marshal(made)
		if err != nil {
			return err
		}
		return writeJSON(o.terminal.out, text)
	}
	for _, f := range made.Files {
		if _, err := fmt.Fprintln(o.terminal.out, filepath.Join(made.Folder, f)); err != nil {
			return err
		}
	}
	if made.Build != "" {
		o.terminal.say("build it: .%c%s", os.PathSeparator, made.Build)
	}
	o.terminal.say("then: ostraka function check %s, and ostraka function push %s", made.Folder, made.Folder)
	return nil
}
