// SPDX-License-Identifier: Apache-2.0

// Command etcd is the store of the cluster tests: the main function of etcd.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
