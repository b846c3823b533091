package main

import (
	"fmt"
	"math/bits"
	"strings"
)

// The buckets of bench/hosts/cluster/histogram.h: exact below 128 ns, then 64 for each doubling.
const (
	exact       = 128
	perDoubling = 64
)

type histogram struct {
	counts []uint64
}

func (h *histogram) record(nanoseconds int64) {
	value := uint64(max(0, nanoseconds))
	bucket := int(value)
	if value >= exact {
		shift := bits.Len64(value) - 7
		bucket = exact + (shift-1)*perDoubling + int(value>>shift) - perDoubling
	}
	for len(h.counts) <= bucket {
		h.counts = append(h.counts, 0)
	}
	h.counts[bucket]++
}

func (h *histogram) json() string {
	var parts []string
	for bucket, count := range h.counts {
		if count == 0 {
			continue
		}
		middle := uint64(bucket)
		if bucket >= exact {
			shift := (bucket-exact)/perDoubling + 1
			low := uint64(perDoubling+(bucket-exact)%perDoubling) << shift
			middle = low + (uint64(1)<<shift)/2
		}
		parts = append(parts, fmt.Sprintf("[%d, %d]", middle, count))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
