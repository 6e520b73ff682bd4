package bytecode

// AppendU appends an unsigned LEB128 number.
func AppendU(b []byte, n uint64) []byte {
	for {
		c := byte(n & 0x7f)
		if n >>= 7; n == 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// AppendS appends a signed LEB128 number.
func AppendS(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if (n == 0 && c&0x40 == 0) || (n == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// AppendName appends a counted name, or any other counted bytes.
func AppendName[T string | []byte](b []byte, name T) []byte {
	return append(AppendU(b, uint64(len(name))), name...)
}

// AppendSection appends a section.
func AppendSection(b []byte, id byte, content []byte) []byte {
	return AppendName(append(b, id), content)
}
