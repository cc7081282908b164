// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// leafs are types with their own form in JSON or protobuf, which every consumer
// of the schema knows by name.
var leafs = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                          "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                     "microtime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                      "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                      "fields_v1",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                      "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                    "int_or_string",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                       "raw_extension",
	"k8s.io/apimachinery/pkg/types.UID":                                  "string",
	"k8s.io/apimachinery/pkg/types.NodeName":                             "string",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":      "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1.JSON": "json",
}

// unlisted are types in an API package that are not part of the API: encodings
// of leafs, and types that are never serialised.
var unlisted = map[string]bool{
	"k8s.io/apimachinery/pkg/apis/meta/v1.TypeMeta":      true, // "type_meta" of a type
	"k8s.io/apimachinery/pkg/apis/meta/v1.Timestamp":     true, // protobuf form of time and microtime
	"k8s.io/apimachinery/pkg/apis/meta/v1.InternalEvent": true,
}

const typeMeta = "k8s.io/apimachinery/pkg/apis/meta/v1.TypeMeta"

// kind of a resolved type
type kind int

const (
	scalar kind = iota
	leaf
	structure
	list
	dict
	pointer
)

// typ is a resolved type. Names of strings, lists and maps are resolved; the
// information that they carried is kept in the other fields.
type typ struct {
	kind    kind
	name    string    // scalar, leaf
	decl    *typeDecl // structure
	elem    *typ      // list, dict, pointer
	wrapped bool      // list or dict that protobuf wraps in a message
	wrapper string    // name of that message
	wrapPkg *goPackage
	enum    *typeDecl // scalar: the named string type
	keyEnum *typeDecl // dict: the named string type of its keys
	markers markers   // markers of the resolved names
}

func (t *typ) String() string {
	switch t.kind {
	case structure:
		return t.decl.pkg.ref(t.decl.name)
	case list:
		return "[]" + t.elem.String()
	case dict:
		return "map[string]" + t.elem.String()
	case pointer:
		return "*" + t.elem.String()
	}
	return t.name
}

// strip returns the type below pointers, lists and maps.
func (t *typ) strip() *typ {
	for t.elem != nil {
		t = t.elem
	}
	return t
}

type universe struct {
	byPath map[string]*goPackage
	all    []*goPackage
}

func (u *universe) resolve(e ast.Expr, p *goPackage, imports map[string]string) (*typ, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		t, err := u.resolve(e.X, p, imports)
		if err != nil {
			return nil, err
		}
		return &typ{kind: pointer, elem: t, markers: t.markers}, nil
	case *ast.ArrayType:
		if id, ok := e.Elt.(*ast.Ident); ok && e.Len == nil && id.Name == "byte" {
			return &typ{kind: scalar, name: "bytes"}, nil
		}
		t, err := u.resolve(e.Elt, p, imports)
		if err != nil {
			return nil, err
		}
		return &typ{kind: list, elem: t}, nil
	case *ast.MapType:
		k, err := u.resolve(e.Key, p, imports)
		if err != nil {
			return nil, err
		}
		if k.kind != scalar || k.name != "string" {
			return nil, fmt.Errorf("map with key %s", k)
		}
		t, err := u.resolve(e.Value, p, imports)
		if err != nil {
			return nil, err
		}
		return &typ{kind: dict, elem: t, keyEnum: k.enum}, nil
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return &typ{kind: leaf, name: "json"}, nil
		}
	case *ast.Ident:
		switch e.Name {
		case "string", "bool", "int32", "int64", "uint32", "uint64", "float64":
			return &typ{kind: scalar, name: e.Name}, nil
		case "any":
			return &typ{kind: leaf, name: "json"}, nil
		}
		return u.named(p.path, e.Name)
	case *ast.SelectorExpr:
		path, ok := imports[e.X.(*ast.Ident).Name]
		if !ok {
			return nil, fmt.Errorf("package %v is not imported", e.X)
		}
		return u.named(path, e.Sel.Name)
	}
	return nil, fmt.Errorf("type expression %T", e)
}

func (u *universe) named(path, name string) (*typ, error) {
	if l, ok := leafs[path+"."+name]; ok {
		k := leaf
		if l == "string" {
			k = scalar
		}
		return &typ{kind: k, name: l}, nil
	}
	p, ok := u.byPath[path]
	if !ok {
		return nil, fmt.Errorf("unknown type %s.%s", path, name)
	}
	d, ok := p.types[name]
	if !ok {
		return nil, fmt.Errorf("unknown type %s.%s", path, name)
	}
	if _, ok := d.expr.(*ast.StructType); ok {
		return &typ{kind: structure, decl: d, markers: d.markers}, nil
	}
	t, err := u.resolve(d.expr, p, d.imports)
	if err != nil {
		return nil, err
	}
	if d.alias {
		return t, nil
	}
	c := *t
	switch c.kind {
	case structure: // "type A other.B": a distinct type with the fields of B
		c.decl = d
	case scalar:
		if c.name == "string" {
			c.enum = d
		}
	case list, dict:
		if _, ok := p.messages[name]; ok {
			c.wrapped, c.wrapper, c.wrapPkg = true, name, p
		}
	}
	c.markers = d.markers
	return &c, nil
}

// structOf returns the struct that a type is declared with, and its
// declaration.
func (u *universe) structOf(d *typeDecl) (*ast.StructType, *typeDecl, error) {
	switch e := d.expr.(type) {
	case *ast.StructType:
		return e, d, nil
	case *ast.Ident:
		if o, ok := d.pkg.types[e.Name]; ok {
			return u.structOf(o)
		}
	case *ast.SelectorExpr:
		if p, ok := u.byPath[d.imports[e.X.(*ast.Ident).Name]]; ok {
			if o, ok := p.types[e.Sel.Name]; ok {
				return u.structOf(o)
			}
		}
	}
	return nil, nil, fmt.Errorf("%s: not a struct", d.name)
}

// evaluate computes a constant string.
func (u *universe) evaluate(e ast.Expr, p *goPackage, imports map[string]string) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return strconv.Unquote(e.Value)
		}
	case *ast.ParenExpr:
		return u.evaluate(e.X, p, imports)
	case *ast.CallExpr: // a conversion
		if len(e.Args) == 1 {
			return u.evaluate(e.Args[0], p, imports)
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			l, err := u.evaluate(e.X, p, imports)
			if err != nil {
				return "", err
			}
			r, err := u.evaluate(e.Y, p, imports)
			return l + r, err
		}
	case *ast.Ident:
		if c, ok := p.consts[e.Name]; ok {
			return u.evaluate(c.value, c.pkg, c.imports)
		}
	case *ast.SelectorExpr:
		if q, ok := u.byPath[imports[e.X.(*ast.Ident).Name]]; ok {
			if c, ok := q.consts[e.Sel.Name]; ok {
				return u.evaluate(c.value, c.pkg, c.imports)
			}
		}
	}
	return "", fmt.Errorf("not a constant string")
}

// constType returns the named string type of a constant, or nil.
func (u *universe) constType(c *constDecl) *typeDecl {
	e := c.typ
	if e == nil {
		switch v := c.value.(type) {
		case *ast.CallExpr: // const C = Type("value")
			if len(v.Args) != 1 {
				return nil
			}
			e = v.Fun
		case *ast.Ident: // const C = Other
			if o, ok := c.pkg.consts[v.Name]; ok {
				return u.constType(o)
			}
			return nil
		case *ast.SelectorExpr:
			if q, ok := u.byPath[c.imports[v.X.(*ast.Ident).Name]]; ok {
				if o, ok := q.consts[v.Sel.Name]; ok {
					return u.constType(o)
				}
			}
			return nil
		default:
			return nil
		}
	}
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return nil
	}
	t, err := u.resolve(e, c.pkg, c.imports)
	if err != nil || t.kind != scalar {
		return nil
	}
	return t.enum
}

func exported(name string) bool {
	return name != "" && strings.ToUpper(name[:1]) == name[:1]
}
