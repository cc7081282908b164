// SPDX-License-Identifier: Apache-2.0

// Command etcd is the store of the cluster tests: etcd's own main function.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
