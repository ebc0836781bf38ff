package text

import (
	"os/exec"
	"testing"
)

// A shell reads each word as it was.
func TestAShellReadsTheWord(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for word, plain := range map[string]bool{
		"etcd-1.example:2379,10.0.0.1:2379": true, "/home/me/kube.config": true, "arn:aws:eks:eu/x@y": true,
		"": false, "it's": false, "a b": false, "[::1]:2379": false, "$HOME": false, "`x`": false, "~/x": false, "a\nb": false, "*": false, `\`: false, "#": false,
	} {
		if (Word(word) == word) != plain {
			t.Errorf("%q became %s", word, Word(word))
		}
		for _, written := range []string{Word(word), Quoted(word)} {
			got, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+written).Output()
			if err != nil || string(got) != word {
				t.Errorf("the shell reads %s as %q (%v), wanted %q", written, got, err, word)
			}
		}
	}
}
