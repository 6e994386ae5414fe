package plan

import (
	"strings"
)

// StateText says what an operator keeps state of, or what a source reads. Of two
// operators in the same place with the same text, and tables of the same form, one can
// go on with the state of the other: what their texts leave out has no part in it.
func StateText(n Node) string {
	if s, ok := n.(*Scan); ok {
		return "table " + s.Table.ID.String() + " (" + s.Table.Declaration.Options["connector"] + ")"
	}
	var b strings.Builder
	b.WriteString(n.Op())
	if s := subject(n); s != "" {
		b.WriteString(" " + s)
	}
	for _, d := range details(n) {
		// What an inner join does with pairs that it has found is not kept.
		if j, ok := n.(*Join); ok && j.Kind == InnerJoin && strings.HasPrefix(d, "and: ") {
			continue
		}
		b.WriteString("; " + d)
	}
	for _, in := range n.Inputs() {
		b.WriteString("; of (" + strings.Join(in.Schema().Names(), ", ") + ")")
	}
	return b.String()
}
