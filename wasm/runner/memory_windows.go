package runner

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserve takes addresses that hold nothing yet.
func reserve(size int) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, fmt.Errorf("reserving %d bytes: %w", size, err)
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), size), nil //nolint:gosec // the system's memory, not Go's
}

// commit makes the start of them memory; what is so already stays as it is.
func commit(b []byte) error {
	_, err := windows.VirtualAlloc(uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), windows.MEM_COMMIT, windows.PAGE_READWRITE) //nolint:gosec // as above
	if err != nil {
		return fmt.Errorf("committing %d bytes: %w", len(b), err)
	}
	return nil
}

// release gives all of them back.
func release(b []byte) {
	_ = windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE) //nolint:gosec // as above; only fails for addresses that are not ours
}
