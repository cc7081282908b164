// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// line encodes a value on one line.
func line(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// block writes a list or an object with one line per member.
func block(w io.Writer, indent, key, open, end string, members []string, last bool) {
	comma := ","
	if last {
		comma = ""
	}
	if len(members) == 0 {
		fmt.Fprintf(w, "%s%s: %s%s%s\n", indent, line(key), open, end, comma)
		return
	}
	fmt.Fprintf(w, "%s%s: %s\n", indent, line(key), open)
	for i, m := range members {
		c := ","
		if i == len(members)-1 {
			c = ""
		}
		fmt.Fprintf(w, "%s  %s%s\n", indent, m, c)
	}
	fmt.Fprintf(w, "%s%s%s\n", indent, end, comma)
}

func write(w io.Writer, mods []module, groups []groupOut) {
	fmt.Fprintln(w, "{")
	var members []string
	for _, m := range mods {
		members = append(members, line(m.Path)+": "+line(m.Version))
	}
	fmt.Fprintf(w, "  \"kubernetes\": %s,\n", line(kubernetesVersion(mods)))
	block(w, "  ", "modules", "{", "}", members, false)
	fmt.Fprintln(w, `  "groups": [`)
	for i, g := range groups {
		fmt.Fprintln(w, "    {")
		for _, kv := range [][2]string{
			{"group", g.Group}, {"name", g.Name}, {"version", g.Version},
			{"go_package", g.GoPackage}, {"proto_package", g.ProtoPackage},
		} {
			fmt.Fprintf(w, "      %s: %s,\n", line(kv[0]), line(kv[1]))
		}
		members = nil
		for _, r := range g.Resources {
			members = append(members, line(r))
		}
		block(w, "      ", "resources", "[", "]", members, false)
		members = nil
		for _, e := range g.Enums {
			var b strings.Builder
			fmt.Fprintf(&b, "%s: [", line(e.Name))
			for j, v := range e.Values {
				if j > 0 {
					b.WriteString(",")
				}
				b.WriteString("\n          " + line(v))
			}
			b.WriteString("]")
			members = append(members, b.String())
		}
		block(w, "      ", "enums", "{", "}", members, false)
		members = nil
		for _, a := range g.Aliases {
			members = append(members, line(a.Name)+": "+line(a.Target))
		}
		block(w, "      ", "aliases", "{", "}", members, false)
		members = nil
		for _, t := range g.Types {
			var b strings.Builder
			b.WriteString(strings.TrimSuffix(line(t), "}"))
			b.WriteString(`,"fields":[`)
			for j, f := range t.fields {
				if j > 0 {
					b.WriteString(",")
				}
				b.WriteString("\n          " + line(f))
			}
			b.WriteString("]}")
			members = append(members, b.String())
		}
		block(w, "      ", "types", "[", "]", members, true)
		if i < len(groups)-1 {
			fmt.Fprintln(w, "    },")
		} else {
			fmt.Fprintln(w, "    }")
		}
	}
	fmt.Fprintln(w, "  ]")
	fmt.Fprintln(w, "}")
}
