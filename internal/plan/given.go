package plan

// Given are the credentials of a run without a cluster, by the keys that a Secret would have: CAFile, UsernameFile and
// so on. They take the place of a mounted Secret. A plan for client pods has none.
type Given map[string]Source

// Source is where one of them comes from.
type Source struct {
	// Name is how the user of the command gave it, for messages: --cacert ca.pem.
	Name string
	// Path is its file. Without a path, Content has it.
	Path    string
	Content string
}
