package parse

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
)

// TestPlaces: every node of every golden statement has a position, and every
// identifier stands where it says.
func TestPlaces(t *testing.T) {
	for _, sql := range seeds(t) {
		stmts, err := Parse(sql)
		if err != nil {
			continue
		}
		for _, s := range stmts {
			checkPlaces(t, sql, reflect.ValueOf(s), reflect.TypeOf(s).String())
		}
	}
}

func checkPlaces(t *testing.T, sql string, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkPlaces(t, sql, v.Elem(), path)
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			checkPlaces(t, sql, v.Index(i), path)
		}
		return
	case reflect.Struct:
	default:
		return
	}
	switch x := v.Interface().(type) {
	case Ident:
		if x.IsZero() || x.Value == "WRAPPER" || strings.HasPrefix(x.Value, "ON ") {
			return
		}
		if at := sql[x.At.Offset:]; !strings.HasPrefix(at, x.Value) && at[0] != '`' && at[0] != '"' && at[0] != '\'' {
			t.Errorf("%s: %s is not at %v\n%s", path, x.Value, x.At, sql)
		}
	case Place:
		p := x.At
		if !p.IsValid() || p != errs.At(sql, p.Offset) {
			t.Errorf("%s has the position %+v\n%s", path, p, sql)
		}
	case errs.Position:
	default:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.Anonymous || !v.Field(i).IsZero() || f.Type == reflect.TypeFor[Place]() {
				if f.Name == "Option" && v.Field(i).IsZero() {
					continue // SET without a key
				}
				checkPlaces(t, sql, v.Field(i), path+"."+f.Name)
			}
		}
	}
}
