package devdb

import (
	"maps"
	"slices"
)

// defaultSettings suit a machine that has other work to do than the database.
var defaultSettings = map[string]string{
	"shared_buffers":    "128MB",
	"max_connections":   "100",
	"jit":               "off", // compiling costs more than our short statements take
	"logging_collector": "off", // the log comes to us, and we bound it
	"log_destination":   "stderr",
	"log_line_prefix":   "%m [%p] ",
	"cluster_name":      "ostraka", // shown by ps
}

// disposableSettings trade what a crash of the machine would cost for speed.
// Commits stay synchronous, so a killed server still loses none.
var disposableSettings = map[string]string{
	"fsync":            "off",
	"full_page_writes": "off",
}

// arguments is the server's command line. It holds no secret: there is none.
func (s *Server) arguments() []string {
	settings := maps.Clone(defaultSettings)
	if s.opts.Disposable {
		maps.Copy(settings, disposableSettings)
	}
	maps.Copy(settings, s.opts.Settings)
	// What access rests on is not for overriding.
	settings["listen_addresses"] = ""
	settings["port"] = socketPort
	settings["unix_socket_directories"] = s.socket.setting()
	settings["unix_socket_permissions"] = "0700"

	args := []string{"-D", clusterFD}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}
