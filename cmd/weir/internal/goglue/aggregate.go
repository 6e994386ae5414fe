package goglue

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirdb/weir/abi"
)

// aggregate writes an aggregate or table aggregate: a type that is the state, whose
// methods are Add, Finish or Emit or EmitChanges, and if they are there Retract,
// Merge, Init and Upgrade; with AppendState and LoadState the state has a size of
// its own in each group.
func (f *function) aggregate(w *writer) error {
	add, ok := f.method("Add")
	if !ok || len(add.results) != 0 {
		return f.errorf("type %s has no method Add that takes the arguments of a row", f.item.name)
	}
	args, err := f.bindArguments(add, add.params, f.args, argumentNames(f.Args), 0)
	if err != nil {
		return err
	}
	f.Called = args.nullable()
	st, err := f.states(w)
	if err != nil {
		return err
	}
	if init, ok := f.method("Init"); ok {
		if len(init.params)+len(init.results) > 0 || init.fails {
			return f.errorf("method Init takes and returns nothing")
		}
		f.init(w, st, init)
	}
	retract, hasRetract := f.method("Retract")
	if hasRetract && !sameTypes(retract, add) {
		return f.errorf("methods Add and Retract take the same arguments")
	}
	f.Retract = hasRetract
	f.update(w, st, args, add, retract)
	if merge, ok := f.method("Merge"); ok {
		if len(merge.params) != 1 || merge.params[0].text != "*"+f.item.name || len(merge.results) != 0 {
			return f.errorf("method Merge takes a *%s: another state, which stays as it is", f.item.name)
		}
		f.Merge = true
		f.merge(w, st, merge)
	}
	if upgrade, ok := f.method("Upgrade"); ok {
		if len(upgrade.params) != 2 || upgrade.params[0].text != "int" || !isBytes(upgrade.params[1]) || !upgrade.fails {
			return f.errorf("method Upgrade is Upgrade(version int, old []byte) error")
		}
		f.upgrade(w, st)
	}
	if f.Kind == abi.Aggregate {
		return f.finish(w, st)
	}
	return f.emit(w, st)
}

func sameTypes(a, b signature) bool {
	if len(a.params) != len(b.params) || len(a.results) != len(b.results) {
		return false
	}
	for i := range a.params {
		if a.params[i].text != b.params[i].text {
			return false
		}
	}
	return true
}

// states is how the generated code gets at the states.
type states struct {
	name    string // of the variables for encoded states
	typ     string // of an element
	field   string // what follows an element to get the author's type
	encoded bool
}

// states declares what holds the states.
func (f *function) states(w *writer) (*states, error) {
	name := f.item.name
	st := &states{name: f.goName + "States", typ: name}
	_, appends := f.method("AppendState")
	_, loads := f.method("LoadState")
	if appends != loads {
		return nil, f.errorf("methods AppendState and LoadState belong together")
	}
	w.line("")
	if appends {
		st.encoded = true
		w.line("// %s and %sOther hold the states of a batch while it is worked on.", st.name, st.name)
		w.line("var %s, %sOther weir.EncodedStates[%s, *%s]", st.name, st.name, name, name)
		return st, nil
	}
	t := f.s.typeOf(f.item.typ.spec.Name, f.item.typ.file)
	size, _, err := sizeOf(t, name)
	if err != nil {
		return nil, f.errorf("%s; give the type the methods AppendState(dst []byte) []byte and LoadState(src []byte) error", err)
	}
	if size == 0 {
		return nil, f.errorf("the state has no fields")
	}
	f.State.Size = (size + abi.StateAlign - 1) / abi.StateAlign * abi.StateAlign
	if pad := f.State.Size - size; pad > 0 {
		st.typ, st.field = f.goName+"State", ".v"
		w.line("// %s is a state with the room it has at the host.", st.typ)
		w.line("type %s struct { v %s; _ [%d]byte }", st.typ, name, pad)
	}
	return st, nil
}

// sizeOf is the size of a type that means the same in every batch: it holds no
// pointers. The sizes are those of Go for wasm and of TinyGo.
func sizeOf(t *goType, path string) (size, align int, err error) {
	switch t.class {
	case basic:
		switch t.name {
		case "bool", "int8", "uint8":
			return 1, 1, nil
		case "int16", "uint16":
			return 2, 2, nil
		case "int32", "uint32", "float32":
			return 4, 4, nil
		case "int64", "uint64", "float64":
			return 8, 8, nil
		}
		return 0, 0, fmt.Errorf("%s is of type %s, which has no size of its own in a state", path, t.text)
	case decimal:
		return 16, 8, nil
	case date:
		return 4, 4, nil
	case goDuration:
		return 8, 8, nil
	case null:
		size, align, err = sizeOf(t.elems[0], path+".V")
		return (size/align + 1) * align, align, err
	case array:
		n, err := strconv.Atoi(t.length)
		if err != nil {
			return 0, 0, fmt.Errorf("the length of %s is not written as a number", path)
		}
		size, align, err = sizeOf(t.elems[0], path+"[0]")
		return n * size, align, err
	case structure:
		align = 1
		for _, field := range t.fields {
			s, a, err := sizeOf(field.typ, path+"."+field.name)
			if err != nil {
				return 0, 0, err
			}
			size = (size+a-1)/a*a + s
			align = max(align, a)
		}
		return (size + align - 1) / align * align, align, nil
	}
	return 0, 0, fmt.Errorf("%s is of type %s, which a state of fixed size cannot hold", path, t.text)
}

// load writes what makes st the states of all groups.
func (w *writer) load(st *states) {
	if !st.encoded {
		w.line("st := weir.States[%s](c)", st.typ)
		return
	}
	w.line("st, err := %s.Load(c)", st.name)
	w.check()
}

// store writes what hands the states back.
func (w *writer) store(st *states) {
	if st.encoded {
		w.line("%s.Store(c)", st.name)
	}
}

func (f *function) init(w *writer, st *states, init signature) {
	w.begin(f.Export+abi.PartInit.Suffix(), f.goName+"Init")
	if st.encoded {
		w.line("st := %s.New(c)", st.name)
	} else {
		w.line("st := weir.States[%s](c)", st.typ)
	}
	w.line("for i := range st { st[i]%s.Init(%s) }", st.field, init.callArgument())
	w.store(st)
	w.line("return 0")
	w.line("}")
}

func (f *function) update(w *writer, st *states, args *arguments, add, retract signature) {
	w.begin(f.Export+abi.PartUpdate.Suffix(), f.goName+"Update")
	args.declare(w)
	w.load(st)
	if f.Retract {
		w.line("sign := c.Sign()")
	}
	body := w.capture(func() {
		if missing := args.missing("i"); missing != "" {
			w.line("if %s { continue }", missing)
		}
		list := args.read(w, "i", "")
		w.line("s := &st[g]%s", st.field)
		call := func(method string, g signature) {
			if g.fails {
				w.line("if err := s.%s(%s); err != nil { return c.Fail(err) }", method, list)
			} else {
				w.line("s.%s(%s)", method, list)
			}
		}
		if f.Retract {
			w.line("if sign != nil && sign[i] < 0 {")
			call("Retract", retract)
			w.line("continue")
			w.line("}")
		}
		call("Add", add)
	})
	w.line("for i, g := range c.Group() {")
	w.line("c.At(i)")
	w.reset()
	w.b.WriteString(body)
	w.line("}")
	w.store(st)
	w.line("return 0")
	w.line("}")
	w.slabs = nil
}

func (f *function) merge(w *writer, st *states, merge signature) {
	w.begin(f.Export+abi.PartMerge.Suffix(), f.goName+"Merge")
	w.load(st)
	if st.encoded {
		w.line("other, err := %sOther.LoadOther(c)", st.name)
		w.check()
	} else {
		w.line("other := weir.OtherStates[%s](c)", st.typ)
	}
	call := fmt.Sprintf("st[g]%s.Merge(&other[i]%s)", st.field, st.field)
	if merge.call {
		call = fmt.Sprintf("st[g]%s.Merge(c, &other[i]%s)", st.field, st.field)
	}
	w.line("for i, g := range c.Group() {")
	w.line("c.At(i)")
	if merge.fails {
		w.line("if err := %s; err != nil { return c.Fail(err) }", call)
	} else {
		w.line("%s", call)
	}
	w.line("}")
	w.store(st)
	w.line("return 0")
	w.line("}")
}

func (f *function) upgrade(w *writer, st *states) {
	w.begin(f.Export+abi.PartUpgrade.Suffix(), f.goName+"Upgrade")
	if st.encoded {
		w.line("st := %s.New(c)", st.name)
	} else {
		w.line("st := weir.States[%s](c)", st.typ)
	}
	w.line("for i := range st {")
	w.line("if err := st[i]%s.Upgrade(c.OtherVersion(), c.OtherBytes(i)); err != nil { return c.Fail(err) }", st.field)
	w.line("}")
	w.store(st)
	w.line("return 0")
	w.line("}")
}

func (f *function) finish(w *writer, st *states) error {
	g, ok := f.method("Finish")
	if !ok || len(g.params) != 0 || len(g.results) != 1 {
		return f.errorf("type %s has no method Finish that returns the result", f.item.name)
	}
	result, err := bind(f.returns, g.results[0])
	if err != nil {
		return f.errorf("result: %s", err)
	}
	f.Nullable = result.null
	w.begin(f.Export+abi.PartFinish.Suffix(), f.goName+"Finish")
	w.load(st)
	w.build(result, "out", "c.Out(0)")
	w.line("for i := range st {")
	w.line("c.At(i)")
	if g.fails {
		w.line("r, err := st[i]%s.Finish(%s)", st.field, g.callArgument())
		w.check()
	} else {
		w.line("r := st[i]%s.Finish(%s)", st.field, g.callArgument())
	}
	w.append(result, "out", "r")
	w.line("}")
	w.close(result, "out")
	w.line("return 0")
	w.line("}")
	return nil
}

// emit writes the export that returns a group's rows: all of them with Emit, what
// changed with EmitChanges.
func (f *function) emit(w *writer, st *states) error {
	g, full := f.method("Emit")
	changes, hasChanges := f.method("EmitChanges")
	name := "Emit"
	switch {
	case full == hasChanges:
		return f.errorf("type %s has one of the methods Emit, which returns all rows of a group, and EmitChanges", f.item.name)
	case hasChanges:
		g, name = changes, "EmitChanges"
		f.Emit = abi.EmitRetract
	}
	if len(g.results) != 1 || g.results[0].class != slice || hasChanges != (g.results[0].elems[0].class == change) {
		return f.errorf("method Emit returns a slice of rows, EmitChanges one of weir.Change")
	}
	elem := g.results[0].elems[0]
	if hasChanges {
		elem = elem.elems[0]
	}
	appends := len(g.params) == 1 && g.params[0].text == g.results[0].text
	if len(g.params) != 0 && !appends {
		return f.errorf("method %s takes nothing, or the slice that it appends to and returns", name)
	}
	row, err := f.resultRow(elem)
	if err != nil {
		return err
	}
	state := f.goName + "Rows"
	w.line("")
	w.line("// %s holds the rows of one group while the host takes them.", state)
	w.line("var %s struct { rows %s; at int }", state, g.results[0].text)
	w.begin(f.Export+abi.PartEmit.Suffix(), f.goName+"Emit")
	add, done := f.result(w, row)
	w.line("at, resumed := c.Resumed()")
	if st.encoded {
		w.line("st, err := %s.Resume(c)", st.name)
		w.check()
	} else {
		w.load(st)
	}
	w.line("for i := at; i < len(st); i++ {")
	w.line("c.At(i)")
	w.line("if !resumed {")
	var before []string
	if g.call {
		before = append(before, "c")
	}
	if appends {
		before = append(before, state+".rows[:0]")
	}
	list := strings.Join(before, ", ")
	if g.fails {
		w.line("r, err := st[i]%s.%s(%s)", st.field, name, list)
		w.check()
	} else {
		w.line("r := st[i]%s.%s(%s)", st.field, name, list)
	}
	w.line("%s.rows, %s.at = r, 0", state, state)
	w.line("}")
	w.line("resumed = false")
	w.line("for ; %s.at < len(%s.rows); %s.at++ {", state, state, state)
	w.line("if rows.Full() {")
	done()
	w.line("return rows.More(i)")
	w.line("}")
	w.line("r := &%s.rows[%s.at]", state, state)
	if hasChanges {
		add("r.Row")
		w.line("rows.AddChange(i, r.Retract)")
	} else {
		add(deref("r", row, f))
		w.line("rows.Add(i)")
	}
	w.line("}")
	w.line("}")
	done()
	if hasChanges {
		w.store(st)
	}
	w.line("return rows.Done()")
	w.line("}")
	return nil
}
