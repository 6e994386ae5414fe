package connector

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// WithMetadata is a connector whose tables can have columns METADATA FROM a key.
type WithMetadata interface {
	Connector
	// Metadata lists what can be told about the rows of a table.
	Metadata(t *Table, opt Options) []MetadataKey
}

// MetadataKey is something that can be told about rows.
type MetadataKey struct {
	Key  string
	Type sqltype.Type // a column may have another one, if CanAdapt says so
	Doc  string
}

// MetadataColumn is a column of a table that tells about rows.
type MetadataColumn struct {
	Column  int // in the table's schema
	Key     string
	Virtual bool // it is not written
	Pos     errs.Position
}

// CheckMetadata checks the metadata columns of a table against what its connector can tell.
func CheckMetadata(c Connector, t *Table, opt Options) error {
	if len(t.Metadata) == 0 {
		return nil
	}
	var keys []MetadataKey
	if m, ok := c.(WithMetadata); ok {
		keys = m.Metadata(t, opt)
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = "'" + k.Key + "' " + k.Type.String()
	}
	for _, m := range t.Metadata {
		col, found := t.Schema[m.Column], false
		for _, k := range keys {
			if k.Key != m.Key {
				continue
			}
			if found = true; !CanAdapt(k.Type, col.Type) {
				return errs.New(errs.Type, m.Pos, "column %q is %v, and the metadata '%s' is %v", col.Name, col.Type.Optional(), m.Key, k.Type.Optional()).
					WithHint("declare it as %v, and CAST it in a computed column", k.Type.Optional())
			}
		}
		if found {
			continue
		}
		e := errs.New(errs.NotFound, m.Pos, "column %q is METADATA FROM '%s', which connector %q does not have", col.Name, m.Key, c.Name())
		if len(keys) == 0 {
			return e.WithHint("its tables have no metadata")
		}
		return e.WithHint("it has %s", strings.Join(names, ", "))
	}
	return nil
}
