// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"slices"
	"sort"
	"strings"
)

// The output file consists of these types. The order of the members is the
// order of the output.

type groupOut struct {
	Group        string
	Name         string
	Version      string
	GoPackage    string
	ProtoPackage string
	Resources    []resourceOut
	Enums        []enumOut
	Aliases      []aliasOut
	Types        []typeOut
}

type enumOut struct {
	Name   string
	Values []valueOut
}

type valueOut struct {
	Name       string `json:"name"`
	Value      string `json:"value"`
	DeclaredIn string `json:"declared_in,omitempty"` // if not in the package of the type
}

type aliasOut struct{ Name, Target string }

type typeOut struct {
	Name       string `json:"name"`
	Proto      bool   `json:"proto"`
	TypeMeta   bool   `json:"type_meta,omitempty"`
	StructType string `json:"struct_type,omitempty"`
	JSONShape  string `json:"json_shape,omitempty"`
	Recursive  bool   `json:"recursive,omitempty"`

	fields []fieldOut
	decl   *typeDecl
}

type fieldOut struct {
	JSON          string          `json:"json"`
	Go            string          `json:"go"`
	Proto         int             `json:"proto,omitempty"`
	Wire          string          `json:"wire,omitempty"`
	Type          string          `json:"type"`
	Inline        bool            `json:"inline,omitempty"`
	OmitEmpty     bool            `json:"omitempty,omitempty"`
	OmitZero      bool            `json:"omitzero,omitempty"`
	Required      bool            `json:"required,omitempty"`
	ProtoWrapped  bool            `json:"proto_wrapped,omitempty"`
	Enum          string          `json:"enum,omitempty"`
	KeyEnum       string          `json:"key_enum,omitempty"`
	ListType      string          `json:"list_type,omitempty"`
	ListMapKeys   []string        `json:"list_map_keys,omitempty"`
	MapType       string          `json:"map_type,omitempty"`
	StructType    string          `json:"struct_type,omitempty"`
	PatchStrategy string          `json:"patch_strategy,omitempty"`
	PatchMergeKey string          `json:"patch_merge_key,omitempty"`
	Default       json.RawMessage `json:"default,omitempty"`

	typ *typ
	tag fieldTag
}

// shapes contains the JSON form of types that encode themselves. A type with
// MarshalJSON or UnmarshalJSON that is neither here nor a leaf is a mismatch.
var shapes = map[string]string{
	"JSONSchemaPropsOrBool":        "by_token",
	"JSONSchemaPropsOrArray":       "by_token",
	"JSONSchemaPropsOrStringArray": "by_token",
	"GroupVersion":                 "group_version_string",
}

// extractor collects the groups, and the mismatches.
type extractor struct {
	*universe
	enums      map[*typeDecl][]valueOut
	mismatches []string
	notes      []string
	wires      int // fields whose tag has another wire type than the message
}

func (x *extractor) mismatch(format string, args ...any) {
	x.mismatches = append(x.mismatches, fmt.Sprintf(format, args...))
}

func (x *extractor) note(format string, args ...any) {
	x.notes = append(x.notes, fmt.Sprintf(format, args...))
}

// findEnums collects the constants of named string types, in the package that
// declares the type.
func (x *extractor) findEnums() {
	x.enums = map[*typeDecl][]valueOut{}
	for _, p := range x.all {
		for _, name := range p.corder {
			c := p.consts[name]
			d := x.constType(c)
			if d == nil || !exported(name) {
				continue
			}
			value, err := x.evaluate(c.value, p, c.imports)
			if err != nil {
				x.mismatch("%s: constant %s: %v", p.path, name, err)
				continue
			}
			if d.pkg != p { // a constant for a type of another package; skipped if known there
				if !slices.ContainsFunc(x.enums[d], func(v valueOut) bool { return v.Value == value }) {
					x.enums[d] = append(x.enums[d], valueOut{name, value, p.name + "/" + p.version})
				}
				continue
			}
			x.enums[d] = append(x.enums[d], valueOut{Name: name, Value: value})
		}
	}
}

// typesOf returns the struct types of a package.
func (x *extractor) typesOf(p *goPackage) []typeOut {
	var out []typeOut
	for _, name := range p.order {
		d := p.types[name]
		full := p.path + "." + name
		if !exported(name) || d.alias || unlisted[full] {
			continue
		}
		if _, ok := leafs[full]; ok {
			continue
		}
		st, from, err := x.structOf(d)
		if err != nil {
			continue // a string, a list, a map or an interface
		}
		t := typeOut{Name: name, decl: d, StructType: d.markers.first("structType", "k8s:structType")}
		_, t.Proto = p.messages[name]
		if p.marshals[name] {
			if t.JSONShape = shapes[name]; t.JSONShape == "" {
				x.mismatch("%s encodes itself to JSON in an unknown way", p.ref(name))
			}
		}
		tagged := false
		for _, f := range st.Fields.List {
			for _, fo := range x.field(&t, from, f) {
				t.fields = append(t.fields, fo)
				tagged = tagged || fo.tag.hasJSON || fo.Proto != 0
			}
		}
		if !tagged && !t.TypeMeta && len(st.Fields.List) > 0 && !t.Proto {
			x.note("%s left out: no field has a JSON name", p.ref(name))
			continue
		}
		x.checkProto(&t)
		out = append(out, t)
	}
	return out
}

// field returns the description of a field, or of several ("A, B string").
func (x *extractor) field(t *typeOut, from *typeDecl, f *ast.Field) []fieldOut {
	at := t.decl.pkg.ref(t.Name)
	tag, err := parseTag(f.Tag)
	if err != nil {
		x.mismatch("%s: %v", at, err)
		return nil
	}
	rt, err := x.resolve(f.Type, from.pkg, from.imports)
	if err != nil {
		x.mismatch("%s: %v", at, err)
		return nil
	}
	base := rt.strip()
	if len(f.Names) == 0 && base.kind == structure && base.decl.pkg.path+"."+base.decl.name == typeMeta {
		t.TypeMeta = true
		if tag.number != 0 || !tag.inlined {
			x.mismatch("%s: TypeMeta is not just inline", at)
		}
		return nil
	}
	names := make([]string, 0, 1)
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	embedded := len(names) == 0
	if embedded {
		names = append(names, base.decl.name)
	}

	m := markersOf(f.Doc)
	fo := fieldOut{
		JSON: tag.json, Proto: tag.number, Wire: tag.wire, Type: rt.String(), Inline: tag.inlined,
		OmitEmpty: tag.omitempty, OmitZero: tag.omitzero,
		ListType:      m.first("listType", "k8s:listType"),
		MapType:       m.first("mapType", "k8s:mapType"),
		StructType:    m.first("structType", "k8s:structType"),
		PatchStrategy: tag.patchStrategy, PatchMergeKey: tag.patchMergeKey,
		typ: rt, tag: tag,
	}
	// A named list or map may have the markers itself.
	if fo.ListType == "" && rt.kind == list {
		fo.ListType = rt.markers.first("listType", "k8s:listType")
	}
	if fo.MapType == "" && rt.kind == dict {
		fo.MapType = rt.markers.first("mapType", "k8s:mapType")
	}
	for _, k := range append(slices.Clone(m["listMapKey"]), m["k8s:listMapKey"]...) {
		if !slices.Contains(fo.ListMapKeys, k) {
			fo.ListMapKeys = append(fo.ListMapKeys, k)
		}
	}
	if s := m.first("patchStrategy"); s != fo.PatchStrategy {
		x.note("%s.%s: patchStrategy is %q in the tag, %q in the comment", at, names[0], fo.PatchStrategy, s)
	}
	if s := m.first("patchMergeKey"); s != fo.PatchMergeKey {
		x.note("%s.%s: patchMergeKey is %q in the tag, %q in the comment", at, names[0], fo.PatchMergeKey, s)
	}
	switch {
	case tag.inlined:
	case m.has("required", "k8s:required"):
		fo.Required = true
	case m.has("optional", "k8s:optional"):
	default:
		fo.Required = !tag.omitempty && !tag.omitzero
	}
	if m.has("default") {
		fo.Default = x.defaultValue(at, m.first("default"), from)
	}
	if base.enum != nil && len(x.enums[base.enum]) > 0 {
		fo.Enum = base.enum.pkg.ref(base.enum.name)
	}
	for e := rt; e != nil; e = e.elem {
		fo.ProtoWrapped = fo.ProtoWrapped || e.wrapped
		if e.keyEnum != nil && len(x.enums[e.keyEnum]) > 0 {
			fo.KeyEnum = e.keyEnum.pkg.ref(e.keyEnum.name)
		}
	}
	if tag.inlined && (!embedded || tag.json != "") {
		x.mismatch("%s.%s: inline, but not embedded or named", at, names[0])
	}
	var out []fieldOut
	for _, n := range names {
		fo.Go = n
		if !exported(n) {
			x.note("%s.%s is not exported", at, n)
			continue
		}
		if tag.json == "-" {
			if tag.number != 0 {
				x.mismatch("%s.%s: in protobuf, but not in JSON", at, n)
			}
			x.note("%s.%s left out: it is not encoded", at, n)
			continue
		}
		if !tag.hasJSON {
			// Only types with their own JSON form omit the name; they use the name in
			// protobuf.
			fo.JSON = tag.protoName
			if t.JSONShape == "" {
				x.mismatch("%s.%s: no json tag", at, n)
			}
		}
		out = append(out, fo)
	}
	return out
}

// defaultValue evaluates a +default= marker: JSON, or a reference to a
// constant.
func (x *extractor) defaultValue(at, text string, from *typeDecl) json.RawMessage {
	if name, ok := strings.CutPrefix(text, "ref("); ok {
		name = strings.TrimSuffix(name, ")")
		v, err := x.evaluate(ast.NewIdent(name), from.pkg, from.imports)
		if err != nil {
			x.mismatch("%s: default %s: %v", at, text, err)
			return nil
		}
		data, _ := json.Marshal(v)
		return data
	}
	if !json.Valid([]byte(text)) {
		x.mismatch("%s: default %s is not JSON", at, text)
		return nil
	}
	return json.RawMessage(text)
}

// protoName is the name of a field in its message: that of its tag, else that
// in JSON, else that of the embedded Go type.
func (f *fieldOut) protoName() string {
	switch {
	case f.tag.protoName != "":
		return f.tag.protoName
	case f.JSON != "":
		return f.JSON
	}
	return strings.ToLower(f.Go[:1]) + f.Go[1:]
}

var protoScalars = map[string][2]string{ // by scalar: its name in a .proto, its wire type
	"string": {"string", "bytes"}, "bool": {"bool", "varint"}, "bytes": {"bytes", "bytes"},
	"int32": {"int32", "varint"}, "int64": {"int64", "varint"},
	"uint32": {"uint32", "varint"}, "uint64": {"uint64", "varint"}, "float64": {"double", "fixed64"},
}

var protoLeafs = map[string]string{
	"time":          ".k8s.io.apimachinery.pkg.apis.meta.v1.Time",
	"microtime":     ".k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime",
	"duration":      ".k8s.io.apimachinery.pkg.apis.meta.v1.Duration",
	"fields_v1":     ".k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1",
	"quantity":      ".k8s.io.apimachinery.pkg.api.resource.Quantity",
	"int_or_string": ".k8s.io.apimachinery.pkg.util.intstr.IntOrString",
	"raw_extension": ".k8s.io.apimachinery.pkg.runtime.RawExtension",
}

// protoType returns the type of a field of this Go type in a .proto of package
// p, without its label, and whether it is repeated.
func protoType(t *typ, p *goPackage) (string, bool) {
	for t.kind == pointer {
		t = t.elem
	}
	message := func(q *goPackage, name string) string {
		if q == p {
			return name
		}
		return "." + q.protoPackage() + "." + name
	}
	if t.wrapped {
		return message(t.wrapPkg, t.wrapper), false
	}
	switch t.kind {
	case scalar:
		return protoScalars[t.name][0], false
	case leaf:
		if t.name == "json" {
			return "JSON", false
		}
		if s := protoLeafs[t.name]; strings.HasPrefix(s, "."+p.protoPackage()+".") {
			return strings.TrimPrefix(s, "."+p.protoPackage()+"."), false
		}
		return protoLeafs[t.name], false
	case structure:
		return message(t.decl.pkg, t.decl.name), false
	case list:
		e, _ := protoType(t.elem, p)
		return e, true
	case dict:
		e, _ := protoType(t.elem, p)
		return "map<string, " + e + ">", false
	}
	return "", false
}

// checkProto compares a type with its message in generated.proto.
func (x *extractor) checkProto(t *typeOut) {
	p := t.decl.pkg
	at := p.ref(t.Name)
	m := p.messages[t.Name]
	if m == nil {
		for i := range t.fields {
			if t.fields[i].Proto != 0 {
				x.note("%s.%s has protobuf number %d, but there is no message", at, t.fields[i].Go, t.fields[i].Proto)
				t.fields[i].Proto, t.fields[i].Wire = 0, ""
			}
		}
		return
	}
	seen := map[int]bool{}
	for i := range t.fields {
		f := &t.fields[i]
		if f.Proto == 0 {
			x.mismatch("%s.%s has no protobuf number", at, f.Go)
			continue
		}
		if seen[f.Proto] {
			x.mismatch("%s.%s: protobuf number %d twice", at, f.Go, f.Proto)
		}
		seen[f.Proto] = true
		pf := m.byNumber(f.Proto)
		if pf == nil {
			x.mismatch("%s.%s: message has no field %d", at, f.Go, f.Proto)
			continue
		}
		if name := f.protoName(); pf.name != name {
			x.mismatch("%s.%s: named %q in the message, expected %q", at, f.Go, pf.name, name)
		}
		want, repeated := protoType(f.typ, p)
		if pf.typ != want || (pf.label == "repeated") != repeated {
			x.mismatch("%s.%s: %s %s in the message, expected %s", at, f.Go, pf.label, pf.typ, want)
		}
		wire := "bytes"
		if !f.ProtoWrapped && (f.typ.kind == scalar || f.typ.kind == pointer || f.typ.kind == list) {
			e := f.typ
			for e.elem != nil && e.kind != dict {
				e = e.elem
			}
			if s, ok := protoScalars[e.name]; ok && e.kind == scalar {
				wire = s[1]
			}
		}
		if f.Wire != wire {
			x.wires++ // the tags are sometimes wrong, the messages are not
			f.Wire = wire
		}
	}
	for _, pf := range m.fields {
		if !seen[pf.number] {
			x.mismatch("%s: field %d (%s) of the message is not in the Go type", at, pf.number, pf.name)
		}
	}
}

// checkMessages reports messages that have no type.
func (x *extractor) checkMessages(p *goPackage, types []typeOut) {
	known := map[string]bool{}
	for _, t := range types {
		known[t.Name] = true
	}
	var left []string
	for name := range p.messages {
		full := p.path + "." + name
		d := p.types[name]
		if known[name] || leafs[full] != "" || unlisted[full] {
			continue
		}
		if d != nil {
			if t, err := x.named(p.path, name); err == nil && t.wrapped {
				m := p.messages[name]
				if len(m.fields) != 1 || m.fields[0].number != 1 || m.fields[0].name != "items" {
					x.mismatch("%s: message is not {repeated items = 1}", p.ref(name))
				}
				continue
			}
		}
		left = append(left, name)
	}
	sort.Strings(left)
	for _, name := range left {
		x.mismatch("%s: message without a type", p.ref(name))
	}
}

// markRecursive marks the types that contain themselves, directly or
// indirectly.
func markRecursive(groups []groupOut) {
	edges := map[*typeDecl][]*typeDecl{}
	for _, g := range groups {
		for _, t := range g.Types {
			for _, f := range t.fields {
				if b := f.typ.strip(); b.kind == structure {
					edges[t.decl] = append(edges[t.decl], b.decl)
				}
			}
		}
	}
	for gi := range groups {
		for ti := range groups[gi].Types {
			t := &groups[gi].Types[ti]
			seen := map[*typeDecl]bool{}
			todo := slices.Clone(edges[t.decl])
			for len(todo) > 0 && !t.Recursive {
				d := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				if d == t.decl {
					t.Recursive = true
				}
				if !seen[d] {
					seen[d] = true
					todo = append(todo, edges[d]...)
				}
			}
		}
	}
}
