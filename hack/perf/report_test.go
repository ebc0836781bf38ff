package main

import (
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for name, tc := range map[string]struct {
		sorted []float64
		want   float64
	}{
		"one":  {[]float64{3}, 3},
		"odd":  {[]float64{1, 2, 9}, 2},
		"even": {[]float64{1, 2, 4, 9}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := median(tc.sorted); got != tc.want {
				t.Errorf("wanted %g, got %g", tc.want, got)
			}
		})
	}
}

func TestWriteTableHoldsThePromises(t *testing.T) {
	kept := round{FirstLine: 2, FirstRequest: 5.9, Summary: 1}
	slow := round{FirstLine: 2, FirstRequest: 6.1, Summary: 1}
	late := round{FirstLine: 2, FirstRequest: 3, Summary: 5.1}
	for name, tc := range map[string]struct {
		rounds  []round
		wantErr string
	}{
		"kept":              {[]round{kept}, ""},
		"one slow of three": {[]round{kept, slow, kept}, ""},
		"slow":              {[]round{slow}, "difference"},
		"late":              {[]round{late}, "summary"},
	} {
		t.Run(name, func(t *testing.T) {
			err := writeTable(&strings.Builder{}, tc.rounds)
			if (err != nil) != (tc.wantErr != "") {
				t.Fatalf("wanted an error about %q, got %v", tc.wantErr, err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("wanted an error about %q, got %v", tc.wantErr, err)
			}
		})
	}
}
