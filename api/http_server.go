package api

import (
	"log/slog"
	"net/http"
	"time"
)

// The time-outs and limits of the server's connections. Reading a body, waiting and streaming set deadlines of their own.
const (
	readHeaderTimeout = 10 * time.Second // a client that is slower than this with its headers holds a connection for nothing
	readTimeout       = 60 * time.Second // for a request whose body is not read; reading one moves it
	writeTimeout      = 60 * time.Second // for an answer that is not a stream
	idleTimeout       = 2 * time.Minute  // above MaxWait, so that an agent keeps its connection between polls
	maxHeaderBytes    = 32 << 10         // our longest header is a key of a hundred bytes
)

// NewHTTPServer returns a server for the handler of New. Its log gets what the connections have to say.
func NewHTTPServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // mostly clients that do not speak TLS or HTTP
	}
}
