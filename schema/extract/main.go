// SPDX-License-Identifier: Apache-2.0

// Command extract writes the Kubernetes API as data: its kinds, and the names,
// types and protobuf numbers of their fields. It reads the sources of the Go
// modules that define the API; see ../README.md.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

type module struct{ Path, Version, Dir, Sum string }

var modulePaths = []string{
	"k8s.io/api",
	"k8s.io/apiextensions-apiserver",
	"k8s.io/apimachinery",
	"k8s.io/kube-aggregator",
}

// sourceTree is the module of Kubernetes itself. Only one of its files is read,
// and it would add hundreds of modules to go.mod; therefore it is not among
// modulePaths, and its checksum is recorded here instead of in go.sum.
const (
	sourceTree    = "k8s.io/kubernetes"
	sourceTreeSum = "h1:08GT0ZOMtyCcRnslyvnpWurf1wm20KHbC/aRS+0LxSo="
)

// download fetches modules, each given as a path or path@version.
func download(queries ...string) ([]module, error) {
	cmd := exec.Command("go", append([]string{"mod", "download", "-json"}, queries...)...)
	cmd.Stderr = os.Stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w\n%s", err, data) // the reason is on standard output
	}
	var out []module
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var m module
		if err := dec.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// kubernetesVersion returns the release that the modules belong to: 1.36.4.
func kubernetesVersion(mods []module) string {
	for _, m := range mods {
		if m.Path == "k8s.io/api" {
			return "1" + strings.TrimPrefix(m.Version, "v0")
		}
	}
	return ""
}

// discoveryOfSources returns the discovery document in the source tree of a
// release: that of an API server with everything enabled.
func discoveryOfSources(version string) ([]byte, error) {
	mods, err := download(sourceTree + "@v" + version)
	if err != nil {
		return nil, err
	}
	if len(mods) != 1 || mods[0].Sum != sourceTreeSum {
		return nil, fmt.Errorf("%s@v%s does not have the recorded checksum: %+v", sourceTree, version, mods)
	}
	return os.ReadFile(filepath.Join(mods[0].Dir, "api", "discovery", "aggregated_v2.json"))
}

// packages finds the API packages of the modules.
func packages(mods []module) ([]*goPackage, error) {
	roots := map[string][]string{ // directories that contain <version> directories
		"k8s.io/apiextensions-apiserver": {"pkg/apis/apiextensions"},
		"k8s.io/apimachinery":            {"pkg/apis/meta"},
		"k8s.io/kube-aggregator":         {"pkg/apis/apiregistration"},
	}
	var out []*goPackage
	for _, m := range mods {
		dirs := roots[m.Path]
		if m.Path == "k8s.io/api" {
			entries, err := os.ReadDir(m.Dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.IsDir() {
					dirs = append(dirs, e.Name())
				}
			}
		}
		for _, dir := range dirs {
			versions, err := filepath.Glob(filepath.Join(m.Dir, dir, "v*", "register.go"))
			if err != nil {
				return nil, err
			}
			for _, v := range versions {
				v = filepath.Dir(v)
				version, name := filepath.Base(v), filepath.Base(dir)
				if name == "meta" && version != "v1" {
					continue // aliases of the types of v1
				}
				p, err := loadPackage(m.Path+"/"+dir+"/"+version, v, name, version)
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		}
	}
	// meta first, then core: the other packages depend on them.
	rank := func(p *goPackage) int { return slices.Index([]string{"core", "meta"}, p.name) }
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if rank(a) != rank(b) {
			return rank(a) > rank(b)
		}
		if a.name != b.name {
			return a.name < b.name
		}
		return versionLess(a.version, b.version)
	})
	return out, nil
}

// versionLess orders v2 before v1 before v1beta2 before v1alpha1.
func versionLess(a, b string) bool {
	key := func(v string) (stage, major, minor int) {
		if n, _ := fmt.Sscanf(v, "v%dalpha%d", &major, &minor); n == 2 {
			return 2, -major, -minor
		}
		if n, _ := fmt.Sscanf(v, "v%dbeta%d", &major, &minor); n == 2 {
			return 1, -major, -minor
		}
		fmt.Sscanf(v, "v%d", &major)
		return 0, -major, 0
	}
	s1, m1, n1 := key(a)
	s2, m2, n2 := key(b)
	return slices.Compare([]int{s1, m1, n1}, []int{s2, m2, n2}) < 0
}

func run() error {
	mods, err := download(modulePaths...)
	if err != nil {
		return err
	}
	pkgs, err := packages(mods)
	if err != nil {
		return err
	}
	x := &extractor{universe: &universe{byPath: map[string]*goPackage{}, all: pkgs}}
	for _, p := range pkgs {
		x.byPath[p.path] = p
	}
	everything, err := discoveryOfSources(kubernetesVersion(mods))
	if err != nil {
		return err
	}
	srv, err := loadServer(x, everything)
	if err != nil {
		return err
	}
	x.findEnums()
	var groups []groupOut
	for _, p := range pkgs {
		g := groupOut{Group: p.group, Name: p.name, Version: p.version, GoPackage: p.path, ProtoPackage: p.protoPackage()}
		types := x.typesOf(p)
		x.checkMessages(p, types)
		g.Resources = srv.resourcesOf(x, p, types)
		for i := range types {
			kind := strings.TrimSuffix(types[i].Name, "List")
			isResource := slices.ContainsFunc(g.Resources, func(r resourceOut) bool { return r.Kind == kind })
			if !isResource || !plainList(&types[i], kind) {
				if isResource && kind != types[i].Name {
					x.note("%s is more than a list", p.ref(types[i].Name))
				}
				g.Types = append(g.Types, types[i])
			}
		}
		for d, values := range x.enums {
			if d.pkg == p {
				g.Enums = append(g.Enums, enumOut{d.name, values})
			}
		}
		sort.Slice(g.Enums, func(i, j int) bool { return g.Enums[i].Name < g.Enums[j].Name })
		for _, name := range p.order {
			if d := p.types[name]; d.alias && exported(name) {
				t, err := x.resolve(d.expr, p, d.imports)
				if err != nil {
					return err
				}
				target := t.String()
				if t.enum != nil {
					target = t.enum.pkg.ref(t.enum.name)
				}
				g.Aliases = append(g.Aliases, aliasOut{name, target})
			}
		}
		sort.Slice(g.Aliases, func(i, j int) bool { return g.Aliases[i].Name < g.Aliases[j].Name })
		sort.Slice(g.Types, func(i, j int) bool { return g.Types[i].Name < g.Types[j].Name })
		groups = append(groups, g)
	}
	srv.checkUsed(x)
	checkReferences(x, groups)
	markRecursive(groups)

	w := bufio.NewWriter(os.Stdout)
	write(w, mods, groups)
	if err := w.Flush(); err != nil {
		return err
	}
	summary(x, srv, groups)
	if len(x.mismatches) > 0 {
		return fmt.Errorf("%d mismatches", len(x.mismatches))
	}
	return nil
}

// checkReferences reports fields whose type is not in the output.
func checkReferences(x *extractor, groups []groupOut) {
	known := map[*typeDecl]bool{}
	for _, g := range groups {
		for _, t := range g.Types {
			known[t.decl] = true
		}
	}
	for _, g := range groups {
		for _, t := range g.Types {
			for _, f := range t.fields {
				if b := f.typ.strip(); b.kind == structure && !known[b.decl] {
					x.mismatch("%s.%s: type %s is not listed", t.decl.pkg.ref(t.Name), f.Go, b)
				}
			}
		}
	}
}

func summary(x *extractor, srv *server, groups []groupOut) {
	var resources, byDefault, removed, subresources, enums, values, aliases, types, noProto, fields int
	for _, g := range groups {
		resources += len(g.Resources)
		for _, r := range g.Resources {
			if r.ServedByDefault {
				byDefault++
			}
			if r.Removed {
				removed++
			}
			subresources += len(r.Subresources)
		}
		enums += len(g.Enums)
		for _, e := range g.Enums {
			values += len(e.Values)
		}
		aliases += len(g.Aliases)
		types += len(g.Types)
		for _, t := range g.Types {
			fields += len(t.fields)
			if !t.Proto {
				noProto++
			}
		}
	}
	for _, n := range x.notes {
		fmt.Fprintln(os.Stderr, "note:", n)
	}
	for _, m := range x.mismatches {
		fmt.Fprintln(os.Stderr, "MISMATCH:", m)
	}
	fmt.Fprintf(os.Stderr, "groups and versions: %d\n", len(groups))
	fmt.Fprintf(os.Stderr, "types:               %d, %d of them without protobuf\n", types, noProto)
	fmt.Fprintf(os.Stderr, "fields:              %d\n", fields)
	fmt.Fprintf(os.Stderr, "enums:               %d with %d values\n", enums, values)
	fmt.Fprintf(os.Stderr, "aliases:             %d\n", aliases)
	fmt.Fprintf(os.Stderr, "resources:           %d with %d subresources; %d served by default, %d served on demand, %d no longer served\n",
		resources, subresources, byDefault, resources-byDefault-removed, removed)
	fmt.Fprintf(os.Stderr, "in the discovery:    %d recorded, %d in all\n", len(srv.recorded), len(srv.all))
	fmt.Fprintf(os.Stderr, "wire types:          %d wrong tags, corrected from the messages\n", x.wires)
	fmt.Fprintf(os.Stderr, "mismatches:          %d\n", len(x.mismatches))
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}
