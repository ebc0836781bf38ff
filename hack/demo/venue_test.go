package main

import "testing"

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		s       surroundings
		want    venue
		wantErr bool
	}{
		"kind before the host":              {s: surroundings{docker: true, kind: true, debian: true, root: true}, want: venueKind},
		"docker without kind":               {s: surroundings{docker: true, debian: true, root: true}, want: venueHost},
		"kind without docker":               {s: surroundings{kind: true}, want: venueLocal},
		"Debian without root":               {s: surroundings{debian: true}, want: venueLocal},
		"root without Debian":               {s: surroundings{root: true}, want: venueLocal},
		"current, with an image":            {s: surroundings{cluster: "current", image: "example.org/operator:1", docker: true, kind: true}, want: venueCurrent},
		"current, with an image only here":  {s: surroundings{cluster: "current", image: builtHere}, wantErr: true},
		"unknown cluster":                   {s: surroundings{cluster: "production", docker: true, kind: true}, wantErr: true},
		"an image alone changes no cluster": {s: surroundings{image: "example.org/operator:1"}, want: venueLocal},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, why, err := tc.s.choose()
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("got %q (%s), %v; want %q, error %v", got, why, err, tc.want, tc.wantErr)
			}
		})
	}
}
