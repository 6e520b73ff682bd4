package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/runtime/tree"
)

// runtimeImportOptions are the flags of `ostraka runtime import`.
type runtimeImportOptions struct {
	runtimeMaking
	from tree.Source
}

func newRuntimeImport(t *terminal, server *serverFlags) *cobra.Command {
	o := &runtimeImportOptions{runtimeMaking: runtimeMaking{terminal: t, server: server}}
	cmd := &cobra.Command{
		Use: "import NAME --from-root DIR --python PATH", Short: "Make a runtime of an interpreter with packages that is there already",
		Long: `Make a runtime of a Python that lies in a root file system: this machine's own (/), an unpacked container, a
folder that debootstrap has made. Its library, the packages that --package names and every shared library that these need
are packed, the dynamic loader among them. The same files make the same digest on every machine.

It is sent in pieces of a few MiB. What the server has already is not sent again, so that an upload that was cut off goes on,
and a change in one package sends its own pieces. What comes out is the line for function.toml.`,
		Example: "  ostraka runtime import numpy --from-root / --python /usr/bin/python3 --package numpy",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context(), o.pack)
		},
	}
	f := cmd.Flags()
	o.register(f)
	o.registerDryRun(f)
	f.StringVar(&o.from.Root, "from-root", "/", "the folder that the paths begin at")
	f.StringVar(&o.from.Python, "python", "/usr/bin/python3", "the interpreter in it")
	f.StringArrayVar(&o.from.Packages, "package", nil, "what functions import, such as numpy; several times; left out: all that its folders of packages hold")
	return cmd
}

// pack collects what is wanted into a folder, and packs it beside that.
func (o *runtimeImportOptions) pack(ctx context.Context, dir string) (*packedRuntime, error) {
	into := filepath.Join(dir, "tree")
	if err := os.Mkdir(into, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the runtime: %w", err)
	}
	found, err := tree.Collect(ctx, o.from, into)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	if err := tree.Compile(ctx, &found, into); err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	return packRuntime(ctx, found.About, into, filepath.Join(dir, "objects"))
}
