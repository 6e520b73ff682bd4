//go:build linux

package docker

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

const (
	// repository is under what name our images stand in the daemon.
	repository = "ostraka-recheck"
	// imageLabel marks them.
	imageLabel = "org.ostraka.recheck"
	// loadTime is how long a daemon may take to take in an image of 200 MB.
	loadTime = 10 * time.Minute
)

// built is an image as we make it: the same parts make the same digest.
type built struct {
	parts  []part
	layer  string // digest of the layer
	bytes  int64  // of the layer
	config []byte
	digest string // of the config: the image's ID
}

// build computes an image; nothing is written yet.
func build(all []part) (*built, error) {
	sum, size := sha256.New(), counter(0)
	if err := writeLayer(io.MultiWriter(sum, &size), all); err != nil {
		return nil, fmt.Errorf("making the image: %w", err)
	}
	b := &built{parts: all, layer: hex.EncodeToString(sum.Sum(nil)), bytes: int64(size)}
	var err error
	b.config, err = json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Labels": map[string]string{imageLabel: b.layer}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + b.layer}},
	})
	if err != nil {
		return nil, fmt.Errorf("making the image: %w", err)
	}
	digest := sha256.Sum256(b.config)
	b.digest = "sha256:" + hex.EncodeToString(digest[:])
	return b, nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// tag is the image's name in the daemon: its content.
func (b *built) tag() string { return repository + ":" + b.layer[:20] }

// write writes the image in the form that `docker load` reads.
func (b *built) write(w io.Writer) error {
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{b.tag()}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, p := range []part{{path: "/manifest.json", data: manifest, mode: 0o444}, {path: "/config.json", data: b.config, mode: 0o444}} {
		if err := writePart(t, p); err != nil {
			return err
		}
	}
	h := &tar.Header{Name: "layer.tar", Typeflag: tar.TypeReg, Mode: 0o444, Size: b.bytes, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	sum := sha256.New()
	if err := writeLayer(io.MultiWriter(t, sum), b.parts); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != b.layer {
		return errors.New("the files that it is made of have changed meanwhile")
	}
	return t.Close()
}

// provide makes sure that the daemon has the image, and returns its ID there.
func (b *built) provide(ctx context.Context, c *client.Client) (string, error) {
	id, err := b.find(ctx, c)
	if err == nil || !errdefs.IsNotFound(err) {
		return id, err
	}
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	r, w := io.Pipe()
	go func() { w.CloseWithError(b.write(w)) }()
	loaded, err := c.ImageLoad(ctx, r, client.ImageLoadWithQuiet(true))
	r.CloseWithError(errors.New("the daemon wants no more of it")) // so that the writer ends
	if err != nil {
		return "", fmt.Errorf("loading the image: %w", err)
	}
	said, err := io.ReadAll(io.LimitReader(loaded.Body, 1<<20))
	if err = errors.Join(err, loaded.Body.Close()); err != nil {
		return "", fmt.Errorf("loading the image: %w", err)
	}
	if id, err = b.find(ctx, c); err != nil {
		return "", fmt.Errorf("loading the image: %w: the daemon said: %.1000s", err, said)
	}
	return id, nil
}

// find looks for the image. A daemon with containerd's image store names images
// by another digest than that of the config, so the layer decides.
func (b *built) find(ctx context.Context, c *client.Client) (string, error) {
	got, err := c.ImageInspect(ctx, b.tag())
	if err != nil {
		return "", err
	}
	if len(got.RootFS.Layers) != 1 || got.RootFS.Layers[0] != "sha256:"+b.layer {
		return "", &imageError{fmt.Errorf("%s in the daemon is not the image of this name: remove it", b.tag())}
	}
	return got.ID, nil
}

// imageError says that an image is not what it has to be.
type imageError struct{ error }

func (e *imageError) Unwrap() error { return e.error }

// pinned looks for the image that an operator has named by its digest.
func pinned(ctx context.Context, c *client.Client, name string) (string, error) {
	got, err := c.ImageInspect(ctx, name)
	if err != nil {
		if errdefs.IsNotFound(err) {
			return "", &imageError{fmt.Errorf("the image %s is not in the daemon: load it, or leave out --recheck-image", name)}
		}
		return "", err
	}
	return got.ID, nil
}

// succeed remembers the image as the one that this installation uses, and
// removes the one before it unless somebody else uses that.
func succeed(ctx context.Context, c *client.Client, id, installation string) error {
	mark := repository + ":of-" + installation
	before, err := c.ImageInspect(ctx, mark)
	if err != nil && !errdefs.IsNotFound(err) {
		return err
	}
	had := err == nil
	if had && before.ID == id {
		return nil
	}
	if err := c.ImageTag(ctx, id, mark); err != nil {
		return fmt.Errorf("naming the image: %w", err)
	}
	if !had {
		return nil
	}
	now, err := c.ImageInspect(ctx, before.ID)
	if err != nil || len(now.RepoTags) > 1 { // gone, or marked by another installation too
		return nil //nolint:nilerr // what cannot be seen is not removed
	}
	for _, tag := range now.RepoTags {
		// A container of another process may use it still: then it stays until the next change.
		_, _ = c.ImageRemove(ctx, tag, image.RemoveOptions{})
	}
	return nil
}
