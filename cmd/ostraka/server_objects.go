//go:build linux

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/blob"
)

// objectConfig says where objects are kept: in a folder or in a bucket.
type objectConfig struct {
	Dir         string
	S3Endpoint  string
	S3Bucket    string
	S3Region    string
	S3Plaintext bool
	accessKey   string
	secretKey   string
}

func (c *objectConfig) registerS3(f *pflag.FlagSet) {
	f.StringVar(&c.S3Endpoint, "s3-endpoint", "", "keep objects in this S3 server, HOST:PORT; the keys come from OSTRAKA_S3_ACCESS_KEY and OSTRAKA_S3_SECRET_KEY")
	f.StringVar(&c.S3Bucket, "s3-bucket", "ostraka", "bucket for the objects; made when missing")
	f.StringVar(&c.S3Region, "s3-region", "", "region of the bucket, for servers that have some")
	f.BoolVar(&c.S3Plaintext, "s3-plaintext", false, "speak to the S3 server without TLS; on trusted networks only")
}

// complete reads the credentials, which have no flags: others can see command lines.
func (c *objectConfig) complete(t *terminal) error {
	if c.S3Endpoint == "" {
		return nil
	}
	c.accessKey, c.secretKey = t.env("OSTRAKA_S3_ACCESS_KEY"), t.env("OSTRAKA_S3_SECRET_KEY")
	if c.accessKey == "" || c.secretKey == "" {
		return usageError("--s3-endpoint needs OSTRAKA_S3_ACCESS_KEY and OSTRAKA_S3_SECRET_KEY in the environment")
	}
	return nil
}

// there refuses a folder that is not there. A server makes one; what only reads objects would find none in it, and leave a folder behind.
func (c *objectConfig) there() error {
	if c.S3Endpoint != "" {
		return nil
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return &exitError{code: exitUsage, err: fmt.Errorf("--blob-dir %s: there is no such folder", c.Dir), hint: "give --blob-dir, or --s3-endpoint and --s3-bucket, as the servers have them"}
	}
	return nil
}

func (c *objectConfig) open(ctx context.Context) (*blob.Store, error) {
	if c.S3Endpoint == "" {
		return blob.OpenDir(c.Dir)
	}
	store, err := blob.OpenS3(ctx, blob.S3Config{
		Endpoint: c.S3Endpoint, Bucket: c.S3Bucket, Region: c.S3Region, Plaintext: c.S3Plaintext,
		AccessKey: c.accessKey, SecretKey: c.secretKey,
	})
	if err != nil {
		return nil, fmt.Errorf("%w; check --s3-endpoint and its keys", err)
	}
	return store, nil
}
