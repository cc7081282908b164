// SPDX-License-Identifier: Apache-2.0

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Runs named checks one after the other, each with a deadline. */
final class Checks {
  interface Check {
    void run() throws Exception;
  }

  private record Named(String name, Check check) {}

  private static final int SECONDS = 60;

  /** True if the server is kubecxx with a simulated cluster, false if it is a real one without controllers. */
  final boolean simulated;
  private final List<Named> checks = new ArrayList<>();

  Checks(boolean simulated) {
    this.simulated = simulated;
  }

  void add(String name, Check check) {
    checks.add(new Named(name, check));
  }

  /** Returns the number of failures. */
  int run() {
    int failures = 0;
    ExecutorService threads = Executors.newCachedThreadPool(task -> {
      Thread thread = new Thread(task);
      thread.setDaemon(true);  // A check that hangs does not keep the program alive.
      return thread;
    });
    for (Named one : checks) {
      try {
        threads.submit(() -> {
          one.check.run();
          return null;
        }).get(SECONDS, TimeUnit.SECONDS);
        System.out.println("ok      " + one.name);
      } catch (Exception error) {
        failures++;
        System.out.println("FAILED  " + one.name);
        error.printStackTrace(System.out);
      }
    }
    System.out.println(checks.size() + " checks");
    return failures;
  }

  static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) {
      throw new AssertionError("expected " + expected + ", found " + actual);
    }
  }

  static void that(boolean condition, String what) {
    if (!condition) throw new AssertionError(what);
  }

  /** A difference that is expected, with the reason in a comment beside the call: it has to come up. */
  void differs(Object actual, Object real, Object ours) {
    that(!Objects.equals(real, ours), "both servers give " + real + ": this is no difference");
    equal(actual, simulated ? ours : real);
  }

  /** Fails unless the call is refused with this status code and reason. */
  static void refused(int code, String reason, Check call) throws Exception {
    try {
      call.run();
    } catch (KubernetesClientException error) {
      equal(error.getCode(), code);
      equal(error.getStatus().getReason(), reason);
      return;
    }
    throw new AssertionError("expected " + code + " " + reason + ", and it was accepted");
  }

  /** Polls until the condition holds; run() has the deadline. */
  static void eventually(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) Thread.sleep(20);
  }
}
