package state

import (
	"bytes"
	"slices"
)

// Tier is where entries are that are not in memory: an ordered map from (table,
// key group, key) to values, whose formats are the tables' business. Calls come
// from the goroutine that owns the store. Keys and values are lent, both ways.
type Tier interface {
	// Load calls found with the value of each key that has one. The keys ascend.
	Load(table string, keys []TierKey, found func(i int, value []byte) error) error
	Save(table string, k TierKey, value []byte) error
	Delete(table string, k TierKey) error
	// Scan visits the whole table in the order of its keys.
	Scan(table string, visit func(k TierKey, value []byte) error) error
}

// TierKey is the key group of an entry and the canonical bytes of its key.
type TierKey struct {
	Group uint8
	Key   []byte
}

func (k TierKey) compare(l TierKey) int {
	if k.Group != l.Group {
		return int(k.Group) - int(l.Group)
	}
	return bytes.Compare(k.Key, l.Key)
}

// memoryTier is a Tier of maps, for tests.
type memoryTier map[string]map[string][]byte

func (m memoryTier) flat(k TierKey) string { return string(append([]byte{k.Group}, k.Key...)) }

func (m memoryTier) Load(table string, keys []TierKey, found func(i int, value []byte) error) error {
	for i, k := range keys {
		if v, ok := m[table][m.flat(k)]; ok {
			if err := found(i, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m memoryTier) Save(table string, k TierKey, value []byte) error {
	if m[table] == nil {
		m[table] = map[string][]byte{}
	}
	m[table][m.flat(k)] = bytes.Clone(value)
	return nil
}

func (m memoryTier) Delete(table string, k TierKey) error {
	delete(m[table], m.flat(k))
	return nil
}

func (m memoryTier) Scan(table string, visit func(k TierKey, value []byte) error) error {
	keys := make([]string, 0, len(m[table]))
	for k := range m[table] {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := visit(TierKey{Group: k[0], Key: []byte(k[1:])}, m[table][k]); err != nil {
			return err
		}
	}
	return nil
}
