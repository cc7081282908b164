// SPDX-License-Identifier: Apache-2.0

//go:build modules

package main

// These packages are not compiled, only their sources are read. The imports
// keep the modules in go.mod when "go mod tidy" runs.
import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)
