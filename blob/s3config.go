package blob

import "errors"

// S3Config says which bucket of which S3 server holds the objects. The caller
// fills the credentials from its environment; they appear in no error or log.
type S3Config struct {
	// Endpoint is host or host:port, without a scheme.
	Endpoint string
	// Bucket is made when it is missing.
	Bucket string
	// Region may stay empty for servers that have none.
	Region string
	// Plaintext turns TLS off; only for servers on a trusted network.
	Plaintext bool

	AccessKey string
	SecretKey string
}

// validate reports every missing field at once.
func (c S3Config) validate() error {
	var errs []error
	for _, f := range []struct{ value, name string }{
		{c.Endpoint, "endpoint"}, {c.Bucket, "bucket"}, {c.AccessKey, "access key"}, {c.SecretKey, "secret key"},
	} {
		if f.value == "" {
			errs = append(errs, errors.New("the S3 "+f.name+" is not set"))
		}
	}
	return errors.Join(errs...)
}
