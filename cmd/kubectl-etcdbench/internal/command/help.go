package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// helpLines and helpWidth are the most that the help of a command takes; explain has the rest.
	helpLines = 40
	helpWidth = 100
	// helpExamples is the most examples of it.
	helpExamples = 3
)

// helpOfCommand is what --help prints: all if it is short, or else the beginning of each part.
func helpOfCommand(cmd *cobra.Command) string {
	if whole := wholeHelp(cmd); len(strings.Split(whole, "\n")) <= helpLines+1 && !overlong(whole) {
		return whole
	}
	examples := strings.Split(cmd.Example, "\n\n")
	about, _, _ := strings.Cut(cmd.Long, "\n\n")
	page := helpBefore(cmd, strings.Join(examples[:min(len(examples), helpExamples)], "\n\n"), about)
	end := fmt.Sprintf("\n%q has all of this help.\n", strings.Replace(cmd.CommandPath(), "etcdbench", "etcdbench explain", 1))
	room := helpLines - strings.Count(page+end, "\n") - 2
	return page + "\nFlags:\n" + strings.Join(flagLines(cmd.Flags(), room), "\n") + "\n" + end
}

// wholeHelp is all that there is to say about a command.
func wholeHelp(cmd *cobra.Command) string {
	return helpBefore(cmd, cmd.Example, cmd.Long) + "\nFlags:\n" + cmd.LocalFlags().FlagUsagesWrapped(helpWidth)
}

// helpBefore is what comes before the flags.
func helpBefore(cmd *cobra.Command, examples, about string) string {
	var out strings.Builder
	usage := cmd.UseLine()
	if !cmd.HasParent() {
		usage = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&out, "%s.\n\nUsage:\n  %s\n", cmd.Short, usage)
	if examples != "" {
		fmt.Fprintf(&out, "\nExamples:\n%s\n", examples)
	}
	if about != "" {
		fmt.Fprintf(&out, "\n%s\n", strings.TrimSpace(about))
	}
	if cmd.HasAvailableSubCommands() {
		out.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&out, "  %-*s %s\n", cmd.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	return out.String()
}

func overlong(page string) bool {
	for line := range strings.Lines(page) {
		if len([]rune(line)) > helpWidth+1 {
			return true
		}
	}
	return false
}

// flagLines describes the flags in at most room lines, in the order in which they are defined. If they are too many, the
// last lines only name the others.
func flagLines(flags *pflag.FlagSet, room int) []string {
	flags.SortFlags = false
	var names, about []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		names, about = append(names, "  "+strings.TrimRight(name+" "+value, " ")), append(about, usage)
	})
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	for shown := len(names); ; shown-- {
		var out []string
		for i, name := range names[:shown] {
			out = append(out, shortened(fmt.Sprintf("%-*s  %s", width, name, about[i])))
		}
		if shown < len(names) {
			var others []string
			for _, name := range names[shown:] {
				others = append(others, strings.Fields(name[strings.Index(name, "--"):])[0])
			}
			for _, line := range text.Wrap("More: "+strings.Join(others, " "), helpWidth-2) {
				out = append(out, "  "+line)
			}
		}
		if len(out) <= room || shown == 0 {
			return out
		}
	}
}

// shortened ends a line that is too long after a word.
func shortened(line string) string {
	if r := []rune(line); len(r) > helpWidth {
		line = string(r[:helpWidth-1])
		return line[:strings.LastIndex(line, " ")] + " …"
	}
	return line
}

// explainCommandNamed prints all about a command, and false if there is none of that name.
func explainCommandNamed(out io.Writer, root *cobra.Command, words []string) (bool, error) {
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root || len(rest) > 0 {
		return false, nil
	}
	_, err = io.WriteString(out, wholeHelp(cmd))
	return true, err
}
