package pip

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// outside is how a RECORD begins the path of a file that lies beside the packages: programs, whose first line names the interpreter of
// this machine, and data that are meant for folders of the system's.
const outside = "../../"

// ofInstalling are files of a package's metadata that say how it came here: they differ where a lock is installed.
var ofInstalling = []string{"direct_url.json", "REQUESTED"}

// tidy takes away what pip has put beside the packages, and what says where they came from.
func tidy(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	records, err := fs.Glob(root.FS(), "*.dist-info/RECORD")
	if err != nil {
		return err
	}
	for _, record := range records {
		if err := tidyRecord(root, record); err != nil {
			return err
		}
	}
	return nil
}

// tidyRecord removes the files that a package has no use for in a runtime, and their lines.
func tidyRecord(root *os.Root, record string) error {
	text, err := root.ReadFile(record)
	if err != nil {
		return err
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return err
	}
	info := path.Dir(record)
	var removed error
	rows = slices.DeleteFunc(rows, func(row []string) bool {
		name, isOutside := strings.CutPrefix(row[0], outside)
		if !isOutside && !slices.Contains(ofInstalling, strings.TrimPrefix(row[0], info+"/")) {
			return false
		}
		removed = errors.Join(removed, remove(root, name))
		return true
	})
	if removed != nil {
		return removed
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return root.WriteFile(record, out.Bytes(), 0o644)
}

// remove removes a file, and the folders that are empty then.
func remove(root *os.Root, name string) error {
	name = filepath.FromSlash(path.Clean(name))
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(name); dir != "." && root.Remove(dir) == nil; dir = filepath.Dir(dir) { // one that holds something stays
	}
	return nil
}
