package results

import (
	"math"
	"math/big"
	"testing"
)

// longestIn is the longest duration of a bucket in whole nanoseconds, computed exactly: the 128th root, by seven square
// roots, of (1e9)^128 · 2^index.
func longestIn(bucket int) int64 {
	root := new(big.Int).Exp(big.NewInt(nanosecondsPerSecond), big.NewInt(1<<MaxSchema), nil)
	if index := nativeIndex(MaxSchema, bucket); index >= 0 {
		root.Lsh(root, uint(index))
	} else {
		root.Rsh(root, uint(-index))
	}
	for range MaxSchema {
		root.Sqrt(root)
	}
	return root.Int64()
}

func TestBucketIndexIsExactAtEveryBound(t *testing.T) {
	for bucket := range Buckets {
		longest := longestIn(bucket)
		if got := BucketIndex(longest); got != bucket {
			t.Fatalf("%d ns, the longest of bucket %d, went into bucket %d", longest, bucket, got)
		}
		if got, want := BucketIndex(longest+1), min(bucket+1, Buckets-1); got != want {
			t.Fatalf("%d ns, too long for bucket %d, went into bucket %d, wanted %d", longest+1, bucket, got, want)
		}
	}
}

func TestBucketIndexOutsideOfTheRange(t *testing.T) {
	tests := map[string]struct {
		ns   int64
		want int
	}{
		"negative":           {-1, 0},
		"nothing":            {0, 0},
		"below the range":    {953, 0},
		"above the range":    {1 << 60, Buckets - 1},
		"the longest of all": {math.MaxInt64, Buckets - 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := BucketIndex(tc.ns); got != tc.want {
				t.Errorf("got bucket %d, wanted %d", got, tc.want)
			}
		})
	}
}

func TestErrorBoundHoldsForEveryBucket(t *testing.T) {
	for schema := MinSchema; schema <= MaxSchema; schema++ {
		bound := float64(errorBoundPPM(schema)) / 1e6
		for bucket := 1; bucket < BucketCount(schema); bucket++ {
			middle := midpoint(schema, bucket)
			low, high := bucketPoint(schema, float64(bucket-1)), bucketPoint(schema, float64(bucket))
			if middle/low-1 > bound || 1-middle/high > bound {
				t.Fatalf("schema %d, bucket %d: midpoint %v is further than %v from %v or %v", schema, bucket, middle, bound, low, high)
			}
		}
	}
	if got := errorBoundPPM(MaxSchema); got != 2712 {
		t.Errorf("error bound at schema %d is %d ppm, wanted 2712", MaxSchema, got)
	}
}
