//go:build linux

package harness

import _ "embed"

// The Python program in its parts; each part uses the names of those before it.
var (
	//go:embed python/wire.py
	wirePart string
	//go:embed python/fork.py
	forkPart string
	//go:embed python/encode.py
	encodePart string
	//go:embed python/handler.py
	handlerPart string
	//go:embed python/items.py
	itemsPart string
	//go:embed python/shard.py
	shardPart string
	//go:embed python/template.py
	templatePart string
	//go:embed python/zygote.py
	zygotePart string
	//go:embed python/main.py
	mainPart string
)

// program is what the interpreter reads from its standard input, so that no
// file on disk can be exchanged for it.
func program() string {
	return wirePart + forkPart + encodePart + handlerPart + itemsPart + shardPart + templatePart + zygotePart + mainPart
}
