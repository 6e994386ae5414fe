package sqltype

import (
	"fmt"
	"strconv"
	"strings"
)

// maxTypeLevels bounds the nesting of a type in text.
const maxTypeLevels = 64

// ParseType reads a type as DDL writes it, with defaults filled in: VARCHAR(20) NOT NULL,
// ARRAY<ROW<a INT, b DECIMAL(10, 2)>>. It is for the texts of manifests and files; the
// statements' parser knows more, and says where. Comments are not read.
func ParseType(text string) (Type, error) {
	p := &typeParser{rest: text}
	t, err := p.typ(1)
	if err == nil && p.next() != "" {
		err = fmt.Errorf("%q follows the type", p.next())
	}
	if err != nil {
		return Type{}, fmt.Errorf("type %q: %w", clipType(text), err)
	}
	return t, nil
}

func clipType(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// typeParser reads a type from the front of rest.
type typeParser struct{ rest string }

// next is the token at the front: a word or number, a name in backquotes, or one
// character; "" at the end.
func (p *typeParser) next() string {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.rest == "" {
		return ""
	}
	if p.rest[0] == '`' {
		if end := strings.IndexByte(p.rest[1:], '`'); end >= 0 {
			return p.rest[:end+2]
		}
		return p.rest
	}
	n := 0
	for n < len(p.rest) && isWordByte(p.rest[n]) {
		n++
	}
	return p.rest[:max(n, 1)]
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// eat takes the words, without regard to case, if all of them are next.
func (p *typeParser) eat(words ...string) bool {
	before := p.rest
	for _, w := range words {
		tok := p.next()
		if !strings.EqualFold(tok, w) {
			p.rest = before
			return false
		}
		p.rest = p.rest[len(tok):]
	}
	return true
}

func (p *typeParser) want(tok string) error {
	if !p.eat(tok) {
		return fmt.Errorf("%q is missing before %q", tok, clipType(p.rest))
	}
	return nil
}

func (p *typeParser) typ(level int) (Type, error) {
	if level > maxTypeLevels {
		return Type{}, fmt.Errorf("it is nested deeper than %d levels", maxTypeLevels)
	}
	word := p.next()
	p.rest = p.rest[len(word):]
	t, err := p.named(strings.ToUpper(word), level)
	if err != nil {
		return Type{}, err
	}
	for {
		switch {
		case p.eat("NOT", "NULL"):
			t.NotNull = true
		case p.eat("NULL"):
			t.NotNull = false
		case p.eat("ARRAY"):
			t = ArrayOf(t)
			level++
		case p.eat("MULTISET"):
			t = MultisetOf(t)
			level++
		default:
			return t, nil
		}
		if level > maxTypeLevels {
			return Type{}, fmt.Errorf("it is nested deeper than %d levels", maxTypeLevels)
		}
	}
}

func (p *typeParser) named(word string, level int) (Type, error) {
	switch word {
	case "BOOLEAN", "BOOL":
		return BoolType, nil
	case "TINYINT":
		return TinyType, nil
	case "SMALLINT":
		return SmallType, nil
	case "INT", "INTEGER":
		return IntType, nil
	case "BIGINT":
		return BigIntType, nil
	case "FLOAT", "REAL":
		return FloatType, nil
	case "DOUBLE":
		p.eat("PRECISION")
		return DoubleType, nil
	case "STRING":
		return StringType, nil
	case "BYTES":
		return BytesType, nil
	case "DATE":
		return DateType, nil
	case "DECIMAL", "DEC", "NUMERIC":
		n, err := p.params(word, 2)
		if err != nil {
			return Type{}, err
		}
		t := DecimalOf(param(n, 0, 10), param(n, 1, 0))
		if t.Precision < 1 || t.Precision > MaxPrecision || t.Scale > t.Precision {
			return Type{}, fmt.Errorf("%v does not exist", t)
		}
		return t, nil
	case "CHAR", "CHARACTER":
		if p.eat("VARYING") {
			return p.sized(Varchar, 1, 1, MaxLength)
		}
		return p.sized(Char, 1, 1, MaxLength)
	case "VARCHAR":
		return p.sized(Varchar, 1, 1, MaxLength)
	case "BINARY":
		if p.eat("VARYING") {
			return p.sized(Varbinary, 1, 1, MaxLength)
		}
		return p.sized(Binary, 1, 1, MaxLength)
	case "VARBINARY":
		return p.sized(Varbinary, 1, 1, MaxLength)
	case "TIME":
		t, err := p.sized(Time, 0, 0, 9)
		p.eat("WITHOUT", "TIME", "ZONE")
		return t, err
	case "TIMESTAMP":
		t, err := p.sized(Timestamp, 6, 0, 9)
		if p.eat("WITH", "LOCAL", "TIME", "ZONE") {
			t.ID = TimestampLTZ
		} else {
			p.eat("WITHOUT", "TIME", "ZONE")
		}
		return t, err
	case "TIMESTAMP_LTZ":
		return p.sized(TimestampLTZ, 6, 0, 9)
	case "INTERVAL":
		return p.interval()
	case "ARRAY", "MULTISET":
		elem, err := p.inBrackets(level)
		if err != nil {
			return Type{}, err
		}
		if word == "ARRAY" {
			return ArrayOf(elem), nil
		}
		return MultisetOf(elem), nil
	case "MAP":
		return p.mapType(level)
	case "ROW":
		return p.row(level)
	case "":
		return Type{}, fmt.Errorf("a type is missing")
	}
	return Type{}, fmt.Errorf("there is no type %q", clipType(word))
}

// params reads up to most numbers in parentheses, if there are any.
func (p *typeParser) params(word string, most int) ([]int, error) {
	if !p.eat("(") {
		return nil, nil
	}
	var out []int
	for {
		tok := p.next()
		n, err := strconv.ParseUint(tok, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%s needs a number, not %q", word, clipType(tok))
		}
		p.rest = p.rest[len(tok):]
		out = append(out, int(n))
		if p.eat(")") {
			break
		}
		if err := p.want(","); err != nil {
			return nil, err
		}
	}
	if len(out) > most {
		return nil, fmt.Errorf("%s takes at most %d numbers", word, most)
	}
	return out, nil
}

func param(n []int, i, otherwise int) int {
	if i < len(n) {
		return n[i]
	}
	return otherwise
}

func (p *typeParser) sized(id ID, otherwise, low, high int) (Type, error) {
	n, err := p.params(id.String(), 1)
	if err != nil {
		return Type{}, err
	}
	t := Type{ID: id, Precision: param(n, 0, otherwise)}
	if t.Precision < low || t.Precision > high {
		return Type{}, fmt.Errorf("%s(%d) does not exist: the number is from %d to %d", id, t.Precision, low, high)
	}
	return t, nil
}

// interval reads the units after INTERVAL.
func (p *typeParser) interval() (Type, error) {
	units := []string{"YEAR", "MONTH", "QUARTER", "DAY", "HOUR", "MINUTE", "SECOND"}
	unit := func() (int, error) {
		for i, u := range units {
			if p.eat(u) {
				_, err := p.params(u, 2)
				return i, err
			}
		}
		return 0, fmt.Errorf("INTERVAL needs a unit before %q", clipType(p.rest))
	}
	from, err := unit()
	if err != nil {
		return Type{}, err
	}
	if p.eat("TO") {
		if _, err := unit(); err != nil {
			return Type{}, err
		}
	}
	if from <= 2 {
		return Type{ID: IntervalMonth}, nil
	}
	return Type{ID: IntervalDay}, nil
}

// inBrackets reads <type>.
func (p *typeParser) inBrackets(level int) (Type, error) {
	if err := p.want("<"); err != nil {
		return Type{}, err
	}
	t, err := p.typ(level + 1)
	if err != nil {
		return Type{}, err
	}
	return t, p.want(">")
}

func (p *typeParser) mapType(level int) (Type, error) {
	if err := p.want("<"); err != nil {
		return Type{}, err
	}
	key, err := p.typ(level + 1)
	if err != nil {
		return Type{}, err
	}
	if err := p.want(","); err != nil {
		return Type{}, err
	}
	value, err := p.typ(level + 1)
	if err != nil {
		return Type{}, err
	}
	return MapOf(key.Required(), value), p.want(">")
}

func (p *typeParser) row(level int) (Type, error) {
	last := ">"
	if p.eat("(") {
		last = ")"
	} else if err := p.want("<"); err != nil {
		return Type{}, err
	}
	var fields []Column
	for !p.eat(last) {
		if len(fields) > 0 {
			if err := p.want(","); err != nil {
				return Type{}, err
			}
		}
		name := p.next()
		p.rest = p.rest[len(name):]
		if len(name) > 2 && name[0] == '`' {
			name = name[1 : len(name)-1]
		} else if name == "" || !isWordByte(name[0]) {
			return Type{}, fmt.Errorf("a field needs a name, not %q", clipType(name))
		}
		t, err := p.typ(level + 1)
		if err != nil {
			return Type{}, err
		}
		if Schema(fields).Index(name) >= 0 {
			return Type{}, fmt.Errorf("the ROW has two fields named %q", name)
		}
		fields = append(fields, Column{Name: name, Type: t})
	}
	return RowOf(fields...), nil
}
