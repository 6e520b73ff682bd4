package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newObject(t *terminal, server *serverFlags) *cobra.Command {
	return noun("object", "Stored objects, named by their SHA-256", newObjectPut(t, server), newObjectGet(t, server))
}

func newObjectPut(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "put FILE", Short: "Store a file (- is stdin) and print its digest", Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := putFile(cmd.Context(), t, c, args[0])
			if err != nil {
				return err
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			_, err = fmt.Fprintln(t.out, doc.Value.Digest)
			return err
		},
	}
	output.register(cmd.Flags())
	return cmd
}

// putFile stores a file without reading it into memory.
func putFile(ctx context.Context, t *terminal, c *connection, name string) (doc answer.Document[client.Object], err error) {
	from := t.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return doc, &exitError{code: exitUsage, err: fmt.Errorf("reading the file: %w", err)}
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return doc, &exitError{code: exitUsage, err: fmt.Errorf("reading the file: %w", err)}
		}
		if info.Mode().IsRegular() {
			doc, err = newUpload(t, c).object(ctx, localFile{path: name, size: info.Size()})
			return doc, explain("storing the file", err)
		}
		from = f // a pipe can be read once
	}
	doc, err = answer.Read[client.Object](c.PutObjectWithBody(ctx, c.project, nil, octetStream, from))
	return doc, explain("storing the file", err)
}

// objectDocument is an object as the server would tell of it.
func objectDocument(o client.Object) (doc answer.Document[client.Object], err error) {
	doc.Value = o
	if doc.Raw, err = json.Marshal(o); err != nil {
		return doc, fmt.Errorf("encoding an object: %w", err)
	}
	return doc, nil
}

func newObjectGet(t *terminal, server *serverFlags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "get DIGEST", Short: "Read an object, to stdout or to a file", Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			return getObject(cmd.Context(), t, c, args[0], file)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write to this file instead of stdout")
	return cmd
}

// getObject copies an object and checks its digest on the way. A file is complete under its name, or not there.
func getObject(ctx context.Context, t *terminal, c *connection, digest, file string) error {
	body, err := answer.Stream(c.GetObject(ctx, c.project, digest))
	if err != nil {
		return explain("reading the object", err)
	}
	defer body.Close()
	if file == "" {
		return copyVerified(t.out, body, digest)
	}
	return writeWholeFile(file, "writing the object", func(part io.Writer) error { return copyVerified(part, body, digest) })
}

func copyVerified(to io.Writer, from io.Reader, digest string) error {
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, sum), from); err != nil {
		return explain("reading the object", &answer.Unreachable{Err: err})
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return fmt.Errorf("the object that came has the digest %s, not %s: do not use it, and tell the operator", got, digest)
	}
	return nil
}
