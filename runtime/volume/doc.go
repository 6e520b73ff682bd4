// Package volume opens folders of a machine that its owner lets functions read.
//
// A function names volumes in its manifest and finds each as a folder. Which folder of the machine that is, its owner says: the server
// knows names and fingerprints alone. Some places can never be one, whatever the owner says: see [Blocklist].
//
// A folder is opened once, without following any link, and is used by its descriptor from then on. A link that takes the place of the folder, or of
// one above it, is an error when it is there before, and changes nothing when it comes later.
package volume
