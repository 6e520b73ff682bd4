// Package volume opens folders of a machine that its owner lets functions read.
//
// A function names volumes in its manifest and finds each as a folder. The machine's owner says which folder that is: the server
// knows only names and fingerprints. Some places can never be a volume, whatever the owner says: see [Blocklist].
//
// A folder is opened once, without following any link, and is used by its descriptor from then on. A link that replaces the folder, or one
// above it, is an error if it is there before, and changes nothing if it comes later.
package volume
