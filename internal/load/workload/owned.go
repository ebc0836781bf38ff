package workload

import (
	"bytes"
	"strconv"
)

// IsObject says whether a key is one that AppendObject writes.
func (k *Keys) IsObject(key []byte) bool {
	number, err := strconv.ParseInt(string(key[len(bytes.TrimRight(key, "0123456789")):]), 10, 64)
	if err != nil {
		return false
	}
	for _, resource := range Resources {
		if bytes.Equal(key, k.AppendObject(nil, resource, number)) {
			return true
		}
	}
	return false
}
