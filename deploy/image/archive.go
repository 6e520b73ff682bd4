package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	user     = 65532 // who runs in the image: nobody whom a machine has
	dataDir  = "/var/lib/ostraka"
	imageTag = "ostraka"

	layerType    = "application/vnd.oci.image.layer.v1.tar"
	configType   = "application/vnd.oci.image.config.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
)

// options say what an image is made of. The same options make the same bytes.
type options struct {
	program      []byte
	version      string
	architecture string
}

// entry is a file, or a folder where data is nil, of a layer or an archive.
type entry struct {
	name  string
	mode  int64
	owner int
	data  []byte
}

// filesOf are all that is in the image.
func filesOf(o options) []entry {
	return []entry{
		{"etc/", 0o755, 0, nil},
		{"etc/group", 0o644, 0, fmt.Appendf(nil, "root:x:0:\nostraka:x:%d:\n", user)},
		{"etc/passwd", 0o644, 0, fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nostraka:x:%d:%d:ostraka:%s:/sbin/nologin\n", user, user, dataDir)},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, certificates()},
		{"ostraka", 0o755, 0, o.program},
		{"tmp/", 0o1777, 0, nil},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{dataDir[1:] + "/", 0o700, user, nil},
	}
}

// certificates are Mozilla's roots, as the version in go.mod has them, and not the machine's: whoever builds it gets the same. Roots that are
// believed within limits only are left out, since a file of certificates cannot say so.
func certificates() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
		}
	}
	return text.Bytes()
}

// writeTar writes entries in their order. All are of 1970, or the digest would tell when it was built.
func writeTar(w io.Writer, entries []entry) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: tar.TypeReg, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if e.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// descriptor names a blob, as the image specification of OCI has it.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// archive is an image in one file: a layout of OCI, with the manifest that `docker load` looks for beside it.
type archive struct{ blobs []entry }

func (a *archive) add(mediaType string, data []byte) descriptor {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	a.blobs = append(a.blobs, entry{"blobs/sha256/" + name, 0o444, 0, data})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: len(data)}
}

func (a *archive) addJSON(mediaType string, value any) (descriptor, error) {
	data, err := json.Marshal(value) // which sorts the keys of maps
	return a.add(mediaType, data), err
}

// build writes an image and returns the digest of its manifest, by which registries name it.
func build(w io.Writer, o options) (digest string, err error) {
	var files bytes.Buffer
	if err := writeTar(&files, filesOf(o)); err != nil {
		return "", fmt.Errorf("making the layer: %w", err)
	}
	a := &archive{}
	layer := a.add(layerType, files.Bytes())
	config, err := a.addJSON(configType, configOf(o, layer.Digest))
	if err != nil {
		return "", fmt.Errorf("making the configuration: %w", err)
	}
	manifest, err := a.addJSON(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer},
	})
	if err != nil {
		return "", fmt.Errorf("making the manifest: %w", err)
	}
	manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": o.version}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": []descriptor{manifest}})
	if err != nil {
		return "", fmt.Errorf("making the index: %w", err)
	}
	forDocker, err := json.Marshal([]map[string]any{{"Config": pathOf(config), "RepoTags": []string{imageTag + ":" + o.version}, "Layers": []string{pathOf(layer)}}})
	if err != nil {
		return "", fmt.Errorf("making Docker's manifest: %w", err)
	}
	all := slices.Concat([]entry{{"blobs/", 0o755, 0, nil}, {"blobs/sha256/", 0o755, 0, nil}}, a.blobs, []entry{
		{"index.json", 0o444, 0, index}, {"manifest.json", 0o444, 0, forDocker}, {"oci-layout", 0o444, 0, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
	})
	if err := writeTar(w, all); err != nil {
		return "", fmt.Errorf("writing the image: %w", err)
	}
	return manifest.Digest, nil
}

func configOf(o options, layer string) map[string]any {
	return map[string]any{
		"architecture": o.architecture, "os": "linux",
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", user, user), "Entrypoint": []string{"/ostraka"}, "Cmd": []string{"--help"}, "WorkingDir": dataDir,
			"Env":    []string{"PATH=/", "HOME=" + dataDir},
			"Labels": map[string]string{"org.opencontainers.image.title": "ostraka", "org.opencontainers.image.version": o.version},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{layer}},
	}
}

func pathOf(d descriptor) string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }
