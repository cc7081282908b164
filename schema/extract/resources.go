// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
)

//go:embed discovery/discovery_api.json
var recordedCore []byte

//go:embed discovery/discovery_apis.json
var recordedGroups []byte

type resourceOut struct {
	Kind            string           `json:"kind"`
	ListKind        string           `json:"list_kind,omitempty"`
	Plural          string           `json:"plural"`
	Singular        string           `json:"singular"`
	Namespaced      bool             `json:"namespaced"`
	ShortNames      []string         `json:"short_names,omitempty"`
	Categories      []string         `json:"categories,omitempty"`
	Verbs           []string         `json:"verbs"`
	Subresources    []subresourceOut `json:"subresources,omitempty"`
	ServedByDefault bool             `json:"served_by_default"`
	Removed         bool             `json:"removed,omitempty"`
}

type subresourceOut struct {
	Name    string   `json:"name"`
	Group   string   `json:"group"`
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

type gvk struct{ group, version, kind string }

// discovery reads an aggregated discovery document.
func discovery(data []byte) (map[gvk]resourceOut, error) {
	type responseKind struct{ Group, Version, Kind string }
	var doc struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct {
					Resource         string
					ResponseKind     responseKind
					Scope            string
					SingularResource string
					Verbs            []string
					ShortNames       []string
					Categories       []string
					Subresources     []struct {
						Subresource  string
						ResponseKind responseKind
						Verbs        []string
					}
				}
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	out := map[gvk]resourceOut{}
	for _, item := range doc.Items {
		for _, v := range item.Versions {
			for _, r := range v.Resources {
				ro := resourceOut{
					Kind: r.ResponseKind.Kind, Plural: r.Resource, Singular: r.SingularResource,
					Namespaced: r.Scope == "Namespaced", ShortNames: sorted(r.ShortNames),
					Categories: sorted(r.Categories), Verbs: sorted(r.Verbs),
				}
				for _, s := range r.Subresources {
					so := subresourceOut{s.Subresource, s.ResponseKind.Group, s.ResponseKind.Version, s.ResponseKind.Kind, sorted(s.Verbs)}
					if so.Version == "" { // defaults to the requested group and version
						so.Group, so.Version = item.Metadata.Name, v.Version
					}
					ro.Subresources = append(ro.Subresources, so)
				}
				sort.Slice(ro.Subresources, func(i, j int) bool { return ro.Subresources[i].Name < ro.Subresources[j].Name })
				key := gvk{item.Metadata.Name, v.Version, ro.Kind}
				if _, ok := out[key]; ok {
					return nil, fmt.Errorf("discovery: two resources for %v", key)
				}
				out[key] = ro
			}
		}
	}
	return out, nil
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	sort.Strings(s)
	return s
}

type server struct {
	recorded, all map[gvk]resourceOut
	used          map[gvk]bool
}

// loadServer reads the resources that the recorded server serves and, from a
// discovery document, everything that a server of this release can serve.
func loadServer(x *extractor, everything []byte) (*server, error) {
	s := &server{recorded: map[gvk]resourceOut{}, used: map[gvk]bool{}}
	for _, data := range [][]byte{recordedCore, recordedGroups} {
		m, err := discovery(data)
		if err != nil {
			return nil, err
		}
		for k, r := range m {
			s.recorded[k] = r
		}
	}
	var err error
	if s.all, err = discovery(everything); err != nil {
		return nil, err
	}
	for k, r := range s.recorded {
		if a, ok := s.all[k]; ok {
			if fmt.Sprint(a) != fmt.Sprint(r) {
				x.mismatch("%v: the recorded discovery differs from that of the source tree", k)
			}
		} else {
			s.all[k] = r
		}
	}
	return s, nil
}

// pluralize guesses the resource of a kind, as Kubernetes does.
func pluralize(kind string) string {
	s := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(s, "endpoints"):
		return s
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsAny(s[len(s)-2:len(s)-1], "aeiou"):
		return s[:len(s)-1] + "ies"
	}
	return s + "s"
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// derive creates a resource from the markers of a kind.
func derive(t *typeOut) resourceOut {
	p, m := t.decl.pkg, t.decl.markers
	r := resourceOut{
		Kind: t.Name, Plural: pluralize(t.Name), Singular: strings.ToLower(t.Name),
		Namespaced: !m.has("genclient:nonNamespaced"), Verbs: slices.Clone(allVerbs),
	}
	if n := m.first("resourceName"); n != "" {
		r.Plural = n
	}
	updateStatus := true
	if only := m.first("genclient:onlyVerbs"); only != "" {
		r.Verbs = sorted(strings.Split(strings.ToLower(only), ","))
		updateStatus = slices.Contains(r.Verbs, "updatestatus")
		r.Verbs = slices.DeleteFunc(r.Verbs, func(v string) bool { return !slices.Contains(allVerbs, v) })
	}
	for _, v := range strings.Split(strings.ToLower(m.first("genclient:skipVerbs")), ",") {
		r.Verbs = slices.DeleteFunc(r.Verbs, func(o string) bool { return o == v })
	}
	subresources := map[string]*subresourceOut{}
	add := func(name, group, version, kind string, verbs ...string) {
		s := subresources[name]
		if s == nil {
			s = &subresourceOut{Name: name, Group: group, Version: version, Kind: kind}
			subresources[name] = s
		}
		for _, v := range verbs {
			if !slices.Contains(s.Verbs, v) {
				s.Verbs = append(s.Verbs, v)
			}
		}
		sort.Strings(s.Verbs)
	}
	hasStatus := slices.ContainsFunc(t.fields, func(f fieldOut) bool { return f.Go == "Status" && f.JSON == "status" })
	if hasStatus && updateStatus && !m.has("genclient:noStatus") {
		add("status", p.group, p.version, t.Name, "get", "patch", "update")
	}
	for _, method := range m["genclient:method"] {
		args := map[string]string{}
		for _, a := range strings.Split(method, ",") {
			if k, v, ok := strings.Cut(a, "="); ok {
				args[k] = v
			}
		}
		verbs := map[string][]string{"get": {"get"}, "update": {"patch", "update"}, "apply": {"patch"}, "create": {"create"}}[args["verb"]]
		group, version, kind := p.group, p.version, t.Name
		result := args["result"]
		if i := strings.LastIndex(result, "."); i >= 0 {
			path, name := result[:i], result[i+1:]
			kind = name
			parts := strings.Split(path, "/")
			group, version = parts[len(parts)-2], parts[len(parts)-1]
			if path == p.path {
				group = p.group
			}
		} else if result != "" {
			kind = result
		}
		if args["subresource"] != "" {
			add(args["subresource"], group, version, kind, verbs...)
		}
	}
	for _, name := range sortedKeys(subresources) {
		r.Subresources = append(r.Subresources, *subresources[name])
	}
	return r
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// inherited finds the same kind in a served version: of its own group or, for
// the group extensions, of the group that the kind was moved to.
func (s *server) inherited(p *goPackage, kind string) (gvk, resourceOut, bool) {
	var keys []gvk
	for k := range s.all {
		if k.kind == kind && (k.group == p.group || (p.group == "extensions" && k.group != "")) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return gvk{}, resourceOut{}, false
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := keys[i], keys[j]
		return a.group+"/"+a.version < b.group+"/"+b.version
	})
	return keys[0], s.all[keys[0]], true
}

// resourcesOf returns the resources of a package.
func (s *server) resourcesOf(x *extractor, p *goPackage, types []typeOut) []resourceOut {
	var out []resourceOut
	for i := range types {
		t := &types[i]
		m := t.decl.markers
		key := gvk{p.group, p.version, t.Name}
		client := m.has("genclient") && !m.has("genclient:noVerbs")
		r, served := s.all[key]
		switch {
		case served:
			s.used[key] = true
			_, r.ServedByDefault = s.recorded[key]
			d := derive(t)
			if client && d.Namespaced != r.Namespaced {
				x.mismatch("%v: scope of the markers is not that of discovery", key)
			}
			if d.Plural != r.Plural || d.Singular != r.Singular {
				x.mismatch("%v: %s/%s in discovery, %s/%s by rule", key, r.Plural, r.Singular, d.Plural, d.Singular)
			}
			if !client {
				x.note("%v: a resource without a typed client", key)
			}
		case client:
			r = derive(t)
			r.Removed = true
			if from, o, ok := s.inherited(p, t.Name); ok {
				if o.Namespaced != r.Namespaced || o.Plural != r.Plural {
					x.mismatch("%v: scope or plural is not that of %v", key, from)
				}
				r.ShortNames, r.Categories, r.Singular = o.ShortNames, o.Categories, o.Singular
				for _, so := range o.Subresources {
					if !slices.ContainsFunc(r.Subresources, func(h subresourceOut) bool { return h.Name == so.Name }) {
						// In discovery, the kind has the requested version.
						if p.types[so.Kind] == nil {
							x.mismatch("%v: subresource %s of %v needs a kind %s", key, so.Name, from, so.Kind)
						}
						so.Group, so.Version = p.group, p.version
						r.Subresources = append(r.Subresources, so)
					}
				}
				sort.Slice(r.Subresources, func(i, j int) bool { return r.Subresources[i].Name < r.Subresources[j].Name })
			} else {
				x.note("%v: neither served nor similar to a served kind", key)
			}
		default:
			continue
		}
		if _, ok := p.types[t.Name+"List"]; ok {
			r.ListKind = t.Name + "List"
		}
		if hasList := slices.Contains(r.Verbs, "list"); hasList != (r.ListKind != "") {
			x.note("%v: list verb %v, list kind %q", key, hasList, r.ListKind)
		}
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Plural < out[j].Plural })
	return out
}

// checkUsed reports resources of the discovery that have no type.
func (s *server) checkUsed(x *extractor) {
	var left []string
	for k, r := range s.all {
		if !s.used[k] {
			left = append(left, fmt.Sprintf("%v (%s)", k, r.Plural))
		}
	}
	sort.Strings(left)
	for _, l := range left {
		if strings.Contains(l, "samplecontroller.k8s.io") {
			x.note("%s: a custom resource of the recorded cluster, left out", l)
			continue
		}
		x.mismatch("%s: in the discovery only", l)
	}
	// Every kind that a subresource returns must have a type.
	for _, k := range s.all {
		for _, so := range k.Subresources {
			found := strings.Contains(so.Group, "samplecontroller")
			for _, p := range x.all {
				if p.group == so.Group && p.version == so.Version && p.types[so.Kind] != nil {
					found = true
				}
			}
			if !found {
				x.mismatch("%s/%s: no type %s/%s %s", k.Plural, so.Name, so.Group, so.Version, so.Kind)
			}
		}
	}
}

// plainList reports whether a type is only the list of a kind.
func plainList(t *typeOut, kind string) bool {
	if t.Name != kind+"List" || !t.TypeMeta || len(t.fields) != 2 {
		return false
	}
	m, items := t.fields[0], t.fields[1]
	return m.Type == "meta/v1.ListMeta" && m.JSON == "metadata" && items.JSON == "items" &&
		items.Type == "[]"+t.decl.pkg.ref(kind) &&
		((m.Proto == 1 && items.Proto == 2) || (!t.Proto && m.Proto == 0 && items.Proto == 0))
}
