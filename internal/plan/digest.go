package plan

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest is the SHA-256 of an encoded plan, in hexadecimal.
func Digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
