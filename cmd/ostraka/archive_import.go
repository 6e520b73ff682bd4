package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// objectsSuffix names the folder of the objects that an archive refers to.
const objectsSuffix = ".objects"

// receiptSuffix names the whole receipt of an archive, with what agents have signed.
const receiptSuffix = ".receipt"

func newArchiveImport(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var results, key string
	cmd := &cobra.Command{
		Use: "import FILE.json", Short: "Put the job of an archive into a project, also of another installation", Args: arguments(1),
		Long: `Put the job of an archive into a project, also of another installation: it stands there as an archived job under the
ID that it had, with its results, its answer and its receipt. The files are verified here, as ostraka archive verify
does, and the server checks them again. What agents have signed of the receipt is taken from FILE.receipt, which
ostraka archive download writes. The project must have the version of the function that the job ran, with the
same digest; push its folder first. Results that are objects are taken from the folder FILE.objects, which
ostraka archive download --objects makes.

Its flags, incidents and aggregations stay in the document of the archive, and who created it is who imports it. The
same archive again changes nothing.`,
		Example: "  ostraka archive download @last --dir archives --objects\n  ostraka archive import archives/JOB.json --context other --key \"$(cat log.key)\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			base := strings.TrimSuffix(args[0], documentSuffix)
			if results == "" {
				results = base + resultsSuffix
			}
			key = strings.TrimSpace(key)
			if _, err := verifyArchive(cmd.Context(), args[0], results, key); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := importArchive(cmd.Context(), t, c, archiveFiles{document: args[0], results: results, objects: base + objectsSuffix, receipt: base + receiptSuffix, key: key})
			if err != nil {
				return err
			}
			return showArchive(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().StringVar(&results, "results", "", "the file of shards; left out: the one beside the document")
	cmd.Flags().StringVar(&key, "key", "", "the key of the log that made the receipt, as ostraka audit checkpoint shows it; left out: the one in the receipt")
	return cmd
}

// archiveFiles are those of an archive on this machine.
type archiveFiles struct{ document, results, objects, receipt, key string }

// importArchive sends an archive, and has it imported.
func importArchive(ctx context.Context, t *terminal, c *connection, f archiveFiles) (doc answer.Document[client.JobArchive], err error) {
	if err := sendObjects(ctx, t, c, f.objects); err != nil {
		return doc, err
	}
	document, err := putFile(ctx, t, c, f.document)
	if err != nil {
		return doc, err
	}
	shards, err := sendShards(ctx, t, c, f.results)
	if err != nil {
		return doc, err
	}
	receipt, err := sendReceipt(ctx, t, c, f.receipt)
	if err != nil {
		return doc, err
	}
	body := client.ImportArchiveJSONRequestBody{Document: document.Value.Digest, Shards: shards, Receipt: receipt, Key: f.key}
	doc, err = tried(ctx, func() (answer.Document[client.JobArchive], error) {
		return answer.Read[client.JobArchive](c.ImportArchive(ctx, c.project, &client.ImportArchiveParams{}, body))
	})
	return doc, explain("importing the archive", err)
}

// sendReceipt stores the whole receipt, and returns its digest; empty: there is none.
func sendReceipt(ctx context.Context, t *terminal, c *connection, file string) (digest string, err error) {
	if _, err := os.Stat(file); os.IsNotExist(err) {
		return "", nil
	}
	doc, err := putFile(ctx, t, c, file)
	return doc.Value.Digest, err
}

// downloadReceipt fetches the whole receipt of an archive, where its document has one.
func downloadReceipt(ctx context.Context, c *connection, job uuid.UUID, name string) error {
	text, err := readBounded(name+documentSuffix, archive.MaxDocument+1)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	d, err := archive.Parse(text)
	if err != nil {
		return badArchive("%w", err)
	}
	if d.Receipt == "" {
		return nil
	}
	return writeWholeFile(name+receiptSuffix, "writing the receipt", func(part io.Writer) error { return writeReceipt(ctx, part, c, job, true) })
}

// sendShards stores the shards of a file as lines, and returns the digest of these.
func sendShards(ctx context.Context, t *terminal, c *connection, results string) (digest string, err error) {
	lines, err := os.CreateTemp("", "ostraka-shards-*")
	if err != nil {
		return "", fmt.Errorf("making room for the shards: %w", err)
	}
	defer func() {
		_ = lines.Close() // it was read by its name
		_ = os.Remove(lines.Name())
	}()
	if err := writeShardLines(lines, results); err != nil {
		return "", err
	}
	doc, err := putFile(ctx, t, c, lines.Name())
	return doc.Value.Digest, err
}

func writeShardLines(out io.Writer, results string) error {
	in, err := os.Open(results)
	if err != nil {
		return usageError("reading the file of shards: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return usageError("reading the file of shards: %w", err)
	}
	file, err := archive.Open(in, info.Size())
	if err != nil {
		return badArchive("%w", err)
	}
	if file.Rows() > archive.MaxImportShards {
		return usageError("the archive has %d shards, and one of more than %d cannot be imported", file.Rows(), archive.MaxImportShards)
	}
	for s, err := range file.Shards(-1) {
		if err != nil {
			return badArchive("%w", err)
		}
		if err := archive.WriteLine(out, s); err != nil {
			return err
		}
	}
	return nil
}

// sendObjects stores the objects in a folder, which need not be there.
func sendObjects(ctx context.Context, t *terminal, c *connection, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return usageError("reading the folder of objects: %w", err)
	}
	for _, e := range entries {
		if !canonical.IsDigest(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		doc, err := putFile(ctx, t, c, filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if doc.Value.Digest != e.Name() {
			return badArchive("the object %s has the digest %s", filepath.Join(dir, e.Name()), doc.Value.Digest)
		}
	}
	return nil
}

// downloadObjects fetches what the results and the answer of an archive refer to. What is there already is not fetched again.
func downloadObjects(ctx context.Context, t *terminal, c *connection, name string) error {
	needed, err := objectsOf(name+documentSuffix, name+resultsSuffix)
	if err != nil || len(needed) == 0 {
		return err
	}
	dir := name + objectsSuffix
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("making the folder of objects: %w", err)
	}
	for _, digest := range needed {
		path := filepath.Join(dir, digest)
		if got, err := digestOfFile(ctx, path); err == nil && got == digest {
			continue
		}
		if err := getObject(ctx, t, c, digest, path); err != nil {
			return err
		}
	}
	return nil
}

// objectsOf are the digests of what the results and the answer of an archive refer to, each once.
func objectsOf(document, results string) (needed []string, err error) {
	text, err := readBounded(document, archive.MaxDocument+1)
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	d, err := archive.Parse(text)
	if err != nil {
		return nil, badArchive("%w", err)
	}
	var record struct {
		Aggregate *struct {
			Object     string `json:"object"`
			RowsObject string `json:"rows_object"`
		} `json:"aggregate"`
	}
	if err := json.NewDecoder(bytes.NewReader(d.Record)).Decode(&record); err != nil {
		return nil, badArchive("the record of the job: %w", err)
	}
	seen := map[string]bool{"": true}
	add := func(digests ...string) {
		for _, digest := range digests {
			if !seen[digest] {
				seen[digest] = true
				needed = append(needed, digest)
			}
		}
	}
	if record.Aggregate != nil {
		add(record.Aggregate.Object, record.Aggregate.RowsObject)
	}
	in, err := os.Open(results)
	if err != nil {
		return nil, fmt.Errorf("reading the file of shards: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the file of shards: %w", err)
	}
	file, err := archive.Open(in, info.Size())
	if err != nil {
		return nil, badArchive("%w", err)
	}
	for s, err := range file.Shards(-1) {
		if err != nil {
			return nil, badArchive("%w", err)
		}
		add(s.Needed())
	}
	return needed, nil
}
