package plan

import (
	"encoding/json"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// jsonNode is an operator in EXPLAIN JSON. Programs may rely on its fields.
type jsonNode struct {
	ID           string       `json:"id"`
	Operator     string       `json:"operator"`
	Subject      string       `json:"subject,omitempty"`
	Details      []string     `json:"details,omitempty"`
	Columns      []jsonColumn `json:"columns"`
	Changes      []string     `json:"changes"`
	DeletesByKey bool         `json:"deletesByKey,omitempty"` // a -D may have only the columns of a key
	Keys         []jsonKey    `json:"upsertKeys"`
	Distribution jsonShards   `json:"distribution"`
	State        string       `json:"state"`
	Inputs       []any        `json:"inputs,omitempty"` // jsonNode or jsonReference
}

// jsonReference stands for an operator that is shared and has been shown.
type jsonReference struct {
	ID     string `json:"id"`
	Shared bool   `json:"shared"` // true
}

type jsonColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type jsonKey struct {
	Columns []string `json:"columns"`
	Ordered bool     `json:"ordered"`
}

type jsonShards struct {
	Kind string   `json:"kind"` // any, hash or single
	Keys []string `json:"keys,omitempty"`
}

// JSON is the plan as EXPLAIN JSON shows it.
func (p *Plan) JSON() string {
	roots, shown := make([]any, len(p.Roots)), map[Node]bool{}
	for i, r := range p.Roots {
		roots[i] = toJSON(r, shown)
	}
	all := map[string]any{"roots": roots}
	if f := functions(p.Roots); len(f) > 0 {
		all["functions"] = f
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic("plan: " + err.Error())
	}
	return string(out)
}

func toJSON(n Node, shown map[Node]bool) any {
	t := n.Traits()
	if shown[n] {
		return jsonReference{t.ID, true}
	}
	shown[n] = true
	out := jsonNode{
		ID: t.ID, Operator: n.Op(), Subject: subject(n), Details: details(n), Columns: []jsonColumn{}, Keys: []jsonKey{},
		Changes: strings.Split(t.Mode.WithoutDeletesByKey().String(), ","), DeletesByKey: t.Mode.DeletesByKey(), State: t.State,
	}
	if out.State == "" {
		out.State = "none"
	}
	names := func(s sqltype.Schema, cols []int) []string { return s.Project(cols).Names() }
	for _, c := range n.Schema() {
		out.Columns = append(out.Columns, jsonColumn{c.Name, c.Type.String() + timeMark(n, len(out.Columns))})
	}
	for _, k := range t.Keys {
		out.Keys = append(out.Keys, jsonKey{names(n.Schema(), k.Columns), k.Ordered})
	}
	out.Distribution = jsonShards{Kind: [...]string{"any", "hash", "single"}[t.Dist.Kind], Keys: names(n.Schema(), t.Dist.Keys)}
	for _, in := range n.Inputs() {
		out.Inputs = append(out.Inputs, toJSON(in, shown))
	}
	return out
}
