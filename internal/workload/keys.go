package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// KeyWriter writes the keys of a run.
type KeyWriter struct {
	prefix       string
	size, digits int
	// folders is nil if keys are numbers.
	folders *folders
}

// KeyWriter returns a writer for the run's keys.
func (r *Run) KeyWriter() KeyWriter {
	kind := r.kind()
	k := kind.keys()
	return KeyWriter{prefix: r.Prefix, size: int(k.SizeBytes), digits: len(strconv.FormatInt(k.Count-1, 10)), folders: kind.folders()}
}

// WrittenKeys is how many keys a run on a store that deletes by name can write, from the first one on.
func (r *Run) WrittenKeys() int64 {
	keys := r.Keys()
	if keys.Distribution == spec.Sequential && r.PreloadCount() == 0 && r.Load.WarmupSeconds == 0 && r.Load.Requests != nil {
		return min(keys.Count, r.Load.RequestBound()*int64(max(r.KeysAtOnce(), 1)))
	}
	return keys.Count
}

// KeyBytes is the length of every key, with the run's prefix. In a tree, it is that of the longest.
func (k *KeyWriter) KeyBytes() int { return len(k.prefix) + k.size }

// AppendKey appends the key with this number: the run's prefix and keys.sizeBytes decimal digits, so that keys sort by
// their numbers. A number with more digits is written in full. Keys in folders have other names.
func (k *KeyWriter) AppendKey(dst []byte, key int64) []byte {
	dst = append(dst, k.prefix...)
	if k.folders != nil {
		return k.folders.appendKey(dst, key)
	}
	for range k.size - k.digits {
		dst = append(dst, '0')
	}
	return appendPadded(dst, key, k.digits)
}

// HasFolders reports whether keys lie in folders: then they do not sort by their numbers.
func (k *KeyWriter) HasFolders() bool { return k.folders != nil }

// IsInFolder reports whether AppendKey could have written a key to a folder.
func (k *KeyWriter) IsInFolder(key string) bool {
	name, isUnder := strings.CutPrefix(key, k.prefix)
	return isUnder && k.folders.has(name)
}

// The limits of the API or above. Within them, sums and products of a plan's numbers do not overflow, and loops over
// them end in reasonable time.
const (
	maxKeyBytes = 4096
	maxSeconds  = 7 * 24 * 60 * 60
)

// checkKeys returns all errors of keys and values, joined.
func checkKeys(k spec.Keys, v spec.Values) []error {
	return []error{
		Wanted(k.Count >= 1 && k.Count <= spec.MaxKeys, "keys.count", fmt.Sprintf("1 to %d", spec.MaxKeys), k.Count),
		Wanted(int(k.SizeBytes) >= len(strconv.FormatInt(max(k.Count-1, 0), 10)) && k.SizeBytes <= maxKeyBytes, "keys.sizeBytes",
			fmt.Sprintf("enough bytes to write keys.count different decimal numbers, at most %d", maxKeyBytes), k.SizeBytes),
		checkDistribution(k),
		checkValues(v),
	}
}

func checkDistribution(k spec.Keys) error {
	switch k.Distribution {
	case spec.Sequential, spec.Uniform:
		return nil
	case spec.ZipfLaw:
		exponent := deref(k.Zipf).Exponent.Float64()
		return Wanted(exponent > 0 && exponent <= 10, "keys.zipf.exponent", "above 0, at most 10", exponent)
	case spec.HotSpots:
		hot := deref(k.HotSpot)
		return errors.Join(
			Wanted(k.Count >= 2, "keys.count", "a hot key and a cold one", k.Count),
			Wanted(hot.KeysPerMillion >= 1 && hot.KeysPerMillion < million, "keys.hotSpot.keysPerMillion", "1 to 999999", hot.KeysPerMillion),
			Wanted(hot.RequestsPerMillion >= 0 && hot.RequestsPerMillion <= million, "keys.hotSpot.requestsPerMillion", "0 to 1000000", hot.RequestsPerMillion))
	}
	return Wanted(false, "keys.distribution", "Sequential, Uniform, Zipf or HotSpot", k.Distribution)
}

func checkValues(v spec.Values) error {
	shortest, size := v.Shortest(), int(v.SizeBytes)
	return errors.Join(
		oneOf("values.content", v.Content, spec.ContentRandom, spec.ContentZero, spec.ContentCompressible, spec.ContentPod),
		oneOf("values.sizeDistribution", v.SizeDistribution, spec.SizesUniform, spec.SizesLogUniform),
		Wanted(size >= 0 && size <= spec.MaxRequestBytes, "values.sizeBytes", fmt.Sprintf("0 to %d", spec.MaxRequestBytes), size),
		Wanted(v.ZeroPercent() >= 0 && v.ZeroPercent() <= 100, "values.randomPercent", "0 to 100", deref(v.RandomPercent)),
		Wanted(shortest >= 0 && shortest <= size, "values.minSizeBytes", fmt.Sprintf("0 to %d, the length of the longest", size), shortest),
		Wanted(v.SizeDistribution != spec.SizesLogUniform || shortest > 0, "values.minSizeBytes",
			"at least 1 with LogUniform, which gives every doubling of the size the same probability: a size of 0 "+
				"cannot be doubled", shortest),
	)
}
