package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/reasons"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const explainExample = `  # What does this reason mean, and what can I do?
  kubectl etcdbench explain ClientBound

  # A warning of a result, as the table prints it
  kubectl etcdbench explain "the members run different versions: 3.5.21, 3.6.4"

  # All flags, examples and exit statuses of a command
  kubectl etcdbench explain run

  # List all reasons
  kubectl etcdbench explain`

func (t *tool) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [REASON... | COMMAND]",
		Short: "Say what a reason in a result means and what to do, or all about a command",
		Long: `Prints what a reason means and what to do about it: the reason of a condition (Finished,
Passed, Cleaned, and those of a schedule), a cause in "valid", a resource of WHERE THE
TIME WENT, the reason of a comparison without a verdict, a finding of doctor, or the
sentence of a warning. With the name of a command, it prints its whole help. Without an
argument, it lists all reasons. It needs no cluster.`,
		Example: explainExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if found, err := explainCommandNamed(t.Out, cmd.Root(), args); found {
				return err
			}
			return t.explain(args)
		},
	}
}

func (t *tool) explain(args []string) error {
	if len(args) == 0 {
		return listReasons(t.Out)
	}
	for i, argument := range args {
		found := explained(argument)
		if len(found) == 0 {
			return unknownWord("a reason", argument, explainedNames(), "kubectl etcdbench explain lists all reasons")
		}
		for j, write := range found {
			if i+j > 0 {
				fmt.Fprintln(t.Out)
			}
			write(t.Out)
		}
	}
	return nil
}

// explained returns what writes the explanations of an argument: those of the reasons of that name and of the finding of doctor, or
// that of the warning.
func explained(argument string) (found []func(io.Writer)) {
	for _, e := range reasons.Find(argument) {
		found = append(found, func(out io.Writer) { writeReason(out, e) })
	}
	for _, c := range doctor.Checks() {
		if strings.EqualFold(c.Kind, argument) {
			found = append(found, func(out io.Writer) { writeFinding(out, c) })
		}
	}
	if e, is := reasons.OfWarning(argument); is && len(found) == 0 {
		found = append(found, func(out io.Writer) { writeReason(out, e) })
	}
	return found
}

// explainedNames are all words that have an explanation.
func explainedNames() []string {
	names := reasons.Names()
	for _, c := range doctor.Checks() {
		names = append(names, c.Kind)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// proseWidth is the width of paragraphs, in characters.
const proseWidth = 88

func writeReason(out io.Writer, e reasons.Entry) {
	fmt.Fprintf(out, "%s: %s\n", e.Name, e.Kind)
	writeParagraph(out, "  ", reasons.Plain(e.Meaning))
	if e.Action != "" {
		writeParagraph(out, "  ", "What to do: "+reasons.Plain(e.Action))
	}
	fmt.Fprintf(out, "  More: %s\n", e.Kind.Page())
}

// The kind of what doctor finds, and the page about it.
const (
	findingKind = "finding of kubectl etcdbench doctor"
	findingPage = "docs/doctor.md"
)

func writeFinding(out io.Writer, c doctor.Check) {
	fmt.Fprintf(out, "%s: %s\n", c.Kind, findingKind)
	writeParagraph(out, "  ", c.Means)
	writeParagraph(out, "  ", "Limit: "+c.Limit+".")
	// An address of a page is not split.
	fmt.Fprintf(out, "  Source: %s\n", c.Source)
	writeParagraph(out, "  ", "What to do: "+c.Do)
	fmt.Fprintf(out, "  More: %s\n", findingPage)
}

// writeParagraph writes a text in lines of at most proseWidth characters.
func writeParagraph(out io.Writer, indent, paragraph string) {
	for _, line := range text.Wrap(paragraph, proseWidth-len(indent)) {
		fmt.Fprintln(out, indent+line)
	}
}

// listReasons writes a line for each reason, in groups.
func listReasons(out io.Writer) error {
	for _, kind := range reasons.Kinds() {
		writeGroup(out, string(kind), kind.Page())
		for _, e := range reasons.Of(kind) {
			writeFirst(out, e.Name, reasons.Plain(e.Meaning))
		}
		fmt.Fprintln(out)
	}
	writeGroup(out, findingKind, findingPage)
	for _, c := range doctor.Checks() {
		writeFirst(out, c.Kind, c.Means)
	}
	_, err := fmt.Fprintln(out, "\nkubectl etcdbench explain REASON says what to do.")
	return err
}

func writeGroup(out io.Writer, kind, page string) {
	fmt.Fprintf(out, "%s (%s)\n", strings.ToUpper(kind[:1])+kind[1:], page)
}

// writeFirst writes a name and the first sentence of what it means.
func writeFirst(out io.Writer, name, meaning string) {
	first, _, _ := strings.Cut(meaning, ". ")
	fmt.Fprintf(out, "  %-24s %s\n", name, strings.TrimSuffix(first, "."))
}

// unknownWord is the error about a word that is none of those known. It suggests the closest one.
func unknownWord(wanted, found string, known []string, advice string) error {
	if closest := closestOf(found, known); closest != "" {
		return fmt.Errorf("wanted %s, found %q: did you mean %s? %s", wanted, found, closest, advice)
	}
	return fmt.Errorf("wanted %s, found %q: %s", wanted, found, advice)
}

// closestOf returns the known word that is closest to another, or "" if none is close: a third of the letters may
// differ, or the word is the beginning of a known one.
func closestOf(word string, known []string) string {
	lower := strings.ToLower(word)
	best, least := "", len([]rune(word))/3+1
	for _, k := range known {
		d := levenshtein.ComputeDistance(lower, strings.ToLower(k))
		if len(word) > 2 && strings.HasPrefix(strings.ToLower(k), lower) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}
