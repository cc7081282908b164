// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// goPackage is one version of one API group, as its Go sources declare it.
type goPackage struct {
	group, name, version string
	path                 string // import path
	dir                  string

	types    map[string]*typeDecl
	consts   map[string]*constDecl
	order    []string // names of types, in declaration order
	corder   []string // names of constants, in declaration order
	marshals map[string]bool
	messages map[string]*message
}

func (p *goPackage) ref(typeName string) string {
	return p.name + "/" + p.version + "." + typeName
}

func (p *goPackage) protoPackage() string { return strings.ReplaceAll(p.path, "/", ".") }

type typeDecl struct {
	pkg     *goPackage
	name    string
	expr    ast.Expr
	alias   bool
	imports map[string]string
	markers markers
}

type constDecl struct {
	pkg     *goPackage
	name    string
	typ     ast.Expr // nil when untyped
	value   ast.Expr
	imports map[string]string
}

// markers are the "+name=value" lines of comments.
type markers map[string][]string

func (m markers) has(names ...string) bool {
	for _, n := range names {
		if _, ok := m[n]; ok {
			return true
		}
	}
	return false
}

func (m markers) first(names ...string) string {
	for _, n := range names {
		if v := m[n]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

func markersOf(groups ...*ast.CommentGroup) markers {
	m := markers{}
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			line := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if !strings.HasPrefix(line, "+") {
				continue
			}
			name, value, _ := strings.Cut(line[1:], "=")
			if strings.ContainsAny(name, " (") {
				continue // prose, or a marker with a condition
			}
			m[name] = append(m[name], strings.TrimSpace(value))
		}
	}
	return m
}

// skipFile reports whether a file of an API package declares no API.
func skipFile(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_generated.") ||
		strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, "_swagger_doc_generated.go") ||
		!strings.HasSuffix(name, ".go")
}

func loadPackage(path, dir, name, version string) (*goPackage, error) {
	p := &goPackage{
		name: name, version: version, path: path, dir: dir,
		types: map[string]*typeDecl{}, consts: map[string]*constDecl{}, marshals: map[string]bool{},
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	// types.go first: the declaration order is kept, and matters for this file.
	sort.SliceStable(entries, func(i, j int) bool {
		return entries[i].Name() == "types.go" && entries[j].Name() != "types.go"
	})
	for _, e := range entries {
		if skipFile(e.Name()) {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.addFile(f)
	}
	group, ok := p.consts["GroupName"]
	if !ok {
		return nil, fmt.Errorf("%s: no GroupName", path)
	}
	if p.group, err = stringLit(group.value); err != nil {
		return nil, fmt.Errorf("%s: GroupName: %w", path, err)
	}
	p.messages, err = loadProto(filepath.Join(dir, "generated.proto"))
	return p, err
}

func stringLit(e ast.Expr) (string, error) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", fmt.Errorf("not a string literal: %T", e)
	}
	return strconv.Unquote(lit.Value)
}

func (p *goPackage) addFile(f *ast.File) {
	imports := map[string]string{}
	for _, im := range f.Imports {
		path, _ := strconv.Unquote(im.Path.Value)
		local := path[strings.LastIndex(path, "/")+1:]
		if im.Name != nil {
			local = im.Name.Name
		}
		imports[local] = path
	}
	end := f.Name.End()
	for _, d := range f.Decls {
		// The markers of a type may be in separate comments above it.
		var above []*ast.CommentGroup
		for _, c := range f.Comments {
			if c.Pos() >= end && c.End() <= d.Pos() {
				above = append(above, c)
			}
		}
		end = d.End()
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && strings.HasSuffix(d.Name.Name, "arshalJSON") {
				p.marshals[receiver(d.Recv.List[0].Type)] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					groups := []*ast.CommentGroup{s.Doc}
					if !d.Lparen.IsValid() {
						groups = append(above, d.Doc)
						if n := len(above); n > 0 && above[n-1] == d.Doc {
							groups = above
						}
					}
					p.types[s.Name.Name] = &typeDecl{
						pkg: p, name: s.Name.Name, expr: s.Type, alias: s.Assign.IsValid(),
						imports: imports, markers: markersOf(groups...),
					}
					p.order = append(p.order, s.Name.Name)
				case *ast.ValueSpec:
					if d.Tok != token.CONST {
						continue
					}
					for i, n := range s.Names {
						if i < len(s.Values) {
							p.consts[n.Name] = &constDecl{pkg: p, name: n.Name, typ: s.Type, value: s.Values[i], imports: imports}
							p.corder = append(p.corder, n.Name)
						}
					}
				}
			}
		}
	}
}

func receiver(e ast.Expr) string {
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// fieldTag is the parsed struct tag of a field.
type fieldTag struct {
	json                                  string
	hasJSON, omitempty, omitzero, inlined bool
	wire, protoName                       string
	number                                int
	patchStrategy, patchMergeKey          string
}

func parseTag(lit *ast.BasicLit) (fieldTag, error) {
	var t fieldTag
	if lit == nil {
		return t, nil
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return t, err
	}
	tag := reflect.StructTag(text)
	if j, ok := tag.Lookup("json"); ok {
		t.hasJSON = true
		parts := strings.Split(j, ",")
		t.json = parts[0]
		for _, o := range parts[1:] {
			switch o {
			case "omitempty":
				t.omitempty = true
			case "omitzero":
				t.omitzero = true
			case "inline":
				t.inlined = true
			case "":
			default:
				return t, fmt.Errorf("json option %q", o)
			}
		}
	}
	if pb, ok := tag.Lookup("protobuf"); ok && pb != "-" {
		parts := strings.Split(pb, ",")
		if len(parts) < 3 {
			return t, fmt.Errorf("protobuf tag %q", pb)
		}
		t.wire = parts[0]
		if t.number, err = strconv.Atoi(parts[1]); err != nil {
			return t, err
		}
		for _, o := range parts[3:] {
			if n, ok := strings.CutPrefix(o, "name="); ok {
				t.protoName = n
			}
		}
	}
	t.patchStrategy, t.patchMergeKey = tag.Get("patchStrategy"), tag.Get("patchMergeKey")
	return t, nil
}

// message is a message of a generated.proto.
type message struct {
	name   string
	fields []protoField
}

type protoField struct {
	label, typ, name string // typ is "map<k, v>" for a map
	number           int
}

func (m *message) byNumber(n int) *protoField {
	for i := range m.fields {
		if m.fields[i].number == n {
			return &m.fields[i]
		}
	}
	return nil
}

var (
	messageLine = regexp.MustCompile(`^message (\w+) \{$`)
	fieldLine   = regexp.MustCompile(`^(?:(optional|repeated|required) )?(map<[^>]*>|[.\w]+) (\w+) = (\d+)(?: \[.*\])?;$`)
)

func loadProto(file string) (map[string]*message, error) {
	out := map[string]*message{}
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return out, nil
	} else if err != nil {
		return nil, err
	}
	var m *message
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "//"):
		case m == nil:
			if g := messageLine.FindStringSubmatch(line); g != nil {
				m = &message{name: g[1]}
				out[m.name] = m
			}
		case line == "}":
			m = nil
		default:
			g := fieldLine.FindStringSubmatch(line)
			if g == nil {
				return nil, fmt.Errorf("%s: cannot parse: %s", file, line)
			}
			n, _ := strconv.Atoi(g[4])
			m.fields = append(m.fields, protoField{g[1], g[2], g[3], n})
		}
	}
	return out, nil
}
