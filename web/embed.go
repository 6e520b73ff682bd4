// Package web holds the portal: its sources and their build. Every server serves it at its root.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files are those of the portal as they were built: index.html, and assets/ with files that have a digest in their name.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the path is a constant
	}
	return files
}
