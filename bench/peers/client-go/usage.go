// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// cpu returns the CPU time of this process in us.
func cpu() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	us := func(t syscall.Timeval) float64 { return float64(t.Sec)*1e6 + float64(t.Usec) }
	return us(usage.Utime) + us(usage.Stime)
}

// sleeps returns the number of voluntary context switches of this process so far.
func sleeps() float64 {
	total := 0.0
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		total += status("/proc/self/task/"+task.Name()+"/status", "voluntary_ctxt_switches")
	}
	return total
}

func status(file, field string) float64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if name == field {
			value, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return value
		}
	}
	return 0
}

// resident and peak return memory in MB (of a million bytes).
func resident() float64 { return status("/proc/self/status", "VmRSS") * 1024 / 1e6 }
func peak() float64     { return status("/proc/self/status", "VmHWM") * 1024 / 1e6 }
func threads() float64  { return status("/proc/self/status", "Threads") }
func forgetPeak()       { os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
