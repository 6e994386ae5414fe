package plugins_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

func TestTextstats(t *testing.T) {
	eachBuild(t, "textstats", func(t *testing.T, m *udf.Module) {
		t.Run("CountChar", func(t *testing.T) { testCountChar(t, m) })
		t.Run("Words", func(t *testing.T) { testWords(t, m) })
		t.Run("ReadingEase", func(t *testing.T) { testReadingEase(t, m) })
		t.Run("Texts", func(t *testing.T) { testTexts(t, m) })
	})
}

func testCountChar(t *testing.T, m *udf.Module) {
	p := vector.NewCheckedPool()
	for _, c := range []struct {
		s, c string
		want int64
	}{
		{"", "a", 0},
		{"banana", "a", 3},
		{"banana", "A", 0},
		{strings.Repeat("xa", 100), "a", 100},
		{strings.Repeat("a", 15), "a", 15},
		{strings.Repeat("a", 16), "a", 16},
		{strings.Repeat("a", 17), "a", 17},
		{"häßlich ß", "ß", 2},
		{"€€ Ω €", "€", 3},
		{"😀a😀", "😀", 2},
		{"\x00a\x00", "\x00", 2},
	} {
		out, err := evaluate(t, p, m, "count_char", 1, vector.OfStrings(p, c.s), vector.OfStrings(p, c.c))
		if err != nil {
			t.Fatal(err)
		}
		if got := vector.Values[int64](out)[0]; got != c.want {
			t.Errorf("count_char(%q, %q) = %d, want %d", c.s, c.c, got, c.want)
		}
		out.Release()
	}
	for _, c := range []string{"", "ab", "éa"} {
		_, err := evaluate(t, p, m, "count_char", 2, vector.OfStrings(p, "x", "y"), vector.OfStrings(p, "x", c))
		if row, reason := refused(t, err); row != 1 || reason != "want one character to count" {
			t.Errorf("%q: row %d, %s", c, row, reason)
		}
	}
	// A null row's text is not looked at.
	a, x := "banana", "a"
	out, err := evaluate(t, p, m, "count_char", 3, texts(p, &a, nil, &a), texts(p, &x, &x, nil))
	if err != nil {
		t.Fatal(err)
	}
	if vector.Values[int64](out)[0] != 3 || out.IsNull(0) || !out.IsNull(1) || !out.IsNull(2) {
		t.Error("want 3, NULL, NULL")
	}
	out.Release()
	noLeaks(t, p)
}

// The rules of README.md, in another way: words by a regular expression.
var (
	word     = regexp.MustCompile(`L+([-'’]L+)*`)
	sentence = regexp.MustCompile(`[.!?]`)
	vowels   = regexp.MustCompile(`(?i)[aeiouy]+`)
	silent   = regexp.MustCompile(`(?i)[^aeiouy]e$`)
	le       = regexp.MustCompile(`(?i)[^aeiouy]le$`)
)

func letter(r rune) bool {
	switch {
	case r < 0x80:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	case r < 0xc0, r == '×', r == '÷', r >= 0x2000 && r <= 0x206f, r >= 0x3000 && r <= 0x303f:
		return false
	}
	return true
}

// wordsOf cuts s at where its letters, mapped to L, match.
func wordsOf(s string) (words []string, between []string) {
	var b strings.Builder
	var starts []int // in s, of each byte of b
	for i, r := range s {
		n := b.Len()
		switch {
		case letter(r):
			b.WriteByte('L')
		case r == '\'' || r == '-' || r == '’':
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
		for range b.Len() - n {
			starts = append(starts, i)
		}
	}
	starts = append(starts, len(s))
	end := 0
	for _, at := range word.FindAllStringIndex(b.String(), -1) {
		from, to := starts[at[0]], starts[at[1]]
		words, between = append(words, s[from:to]), append(between, s[end:from])
		end = to
	}
	return words, between
}

func readingEase(s string) (float64, bool) {
	words, between := wordsOf(s)
	if len(words) == 0 {
		return 0, false
	}
	sentences, syllables := 1, 0
	for i, w := range words {
		if i > 0 && sentence.MatchString(between[i]) {
			sentences++
		}
		n := len(vowels.FindAllString(w, -1))
		if n > 1 && silent.MatchString(w) && !le.MatchString(w) {
			n--
		}
		syllables += max(n, 1)
	}
	n := float64(len(words))
	return 206.835 - 1.015*(n/float64(sentences)) - 84.6*(float64(syllables)/n), true
}

func testWords(t *testing.T, m *udf.Module) {
	p := vector.NewCheckedPool()
	for s, want := range map[string]int64{
		"": 0, " \t\n": 0, "one": 1, "one two": 2, "Don't stop": 2, "rock 'n' roll": 3, "well-known": 1, "a - b": 2, "--": 0,
		"tail-": 1, "naïve café": 2, "don’t": 1, "“quoted”": 1, "3.14": 2, "漢字、仮名": 2, "a\u00a0b": 2, "x--y": 2,
	} {
		out, err := evaluate(t, p, m, "words", 1, vector.OfStrings(p, s))
		if err != nil {
			t.Fatal(err)
		}
		if got := vector.Values[int64](out)[0]; got != want {
			t.Errorf("words(%q) = %d, want %d", s, got, want)
		}
		if w, _ := wordsOf(s); int64(len(w)) != want {
			t.Errorf("%q: %q", s, w)
		}
		out.Release()
	}
	noLeaks(t, p)
}

func testReadingEase(t *testing.T, m *udf.Module) {
	p := vector.NewCheckedPool()
	// The first two are told everywhere with the formula, as 116 and 37.5.
	for s, want := range map[string]float64{
		"The cat sat on the mat.": 206.835 - 1.015*6 - 84.6,
		"The Australian platypus is seemingly a hybrid of a mammal and reptilian creature.": 206.835 - 1.015*13 - 84.6*24/13,
		"Stop! Go? No.":  206.835 - 1.015 - 84.6,
		"a little table": 206.835 - 1.015*3 - 84.6*5/3,
	} {
		out, err := evaluate(t, p, m, "reading_ease", 1, vector.OfStrings(p, s))
		if err != nil {
			t.Fatal(err)
		}
		if got := vector.Values[float64](out)[0]; math.Abs(got-want) > 1e-9 {
			t.Errorf("reading_ease(%q) = %v, want %v", s, got, want)
		}
		out.Release()
	}
	noLeaks(t, p)
}

// testTexts compares random texts with the rules in Go.
func testTexts(t *testing.T, m *udf.Module) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	// Those of ASCII first, of which every second text is made.
	pieces := []string{"the", "apple", "e", "Table", " ", " ", " ", ". ", "! ", "'", "-", "...", "y", "queue", "7", "\x00", "é", "naïve", "’", "漢", "×", "😀", "\u2028"}
	const ascii = 16
	p := vector.NewCheckedPool()
	r := rand.New(rand.NewPCG(seed, 1))
	var in, chars []string
	for i := range 3000 {
		some := pieces
		if i%2 == 0 {
			some = pieces[:ascii]
		}
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(some[r.IntN(len(some))])
		}
		in = append(in, b.String())
		first, _ := utf8.DecodeRuneInString(pieces[r.IntN(len(pieces))])
		chars = append(chars, string(first))
	}
	counts, err := evaluate(t, p, m, "count_char", len(in), vector.OfStrings(p, in...), vector.OfStrings(p, chars...))
	if err != nil {
		t.Fatal(err)
	}
	words, err := evaluate(t, p, m, "words", len(in), vector.OfStrings(p, in...))
	if err != nil {
		t.Fatal(err)
	}
	ease, err := evaluate(t, p, m, "reading_ease", len(in), vector.OfStrings(p, in...))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range in {
		if got, want := vector.Values[int64](counts)[i], int64(strings.Count(s, chars[i])); got != want {
			t.Errorf("count_char(%q, %q) = %d, want %d", s, chars[i], got, want)
		}
		w, _ := wordsOf(s)
		if got := vector.Values[int64](words)[i]; got != int64(len(w)) {
			t.Errorf("words(%q) = %d, want %d: %q", s, got, len(w), w)
		}
		want, ok := readingEase(s)
		if ease.IsNull(i) == ok || ok && math.Abs(vector.Values[float64](ease)[i]-want) > 1e-9 {
			t.Errorf("reading_ease(%q) = %v (NULL: %v), want %v", s, vector.Values[float64](ease)[i], ease.IsNull(i), want)
		}
	}
	counts.Release()
	words.Release()
	ease.Release()
	noLeaks(t, p)
}
