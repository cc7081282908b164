// SPDX-License-Identifier: Apache-2.0
// kubecxx inside a GLib main loop, in one thread.
#include <glib-unix.h>
#include <glib.h>

#include <csignal>

#include "follower.hpp"

int main() try {
  const auto runtime = std::make_shared<kube::Runtime>(kube::RuntimeOptions{.threads = 0});
  const Follower follower{runtime};

  GMainLoop* const loop = g_main_loop_new(nullptr, FALSE);
  const guint readable = g_unix_fd_add(
      runtime->loop().descriptor(), G_IO_IN,
      [](gint, GIOCondition, gpointer data) -> gboolean {
        static_cast<kube::Runtime*>(data)->loop().run_ready();
        return G_SOURCE_CONTINUE;
      },
      runtime.get());
  g_unix_signal_add(
      SIGINT,
      [](gpointer data) -> gboolean {
        g_main_loop_quit(static_cast<GMainLoop*>(data));
        return G_SOURCE_REMOVE;
      },
      loop);
  g_main_loop_run(loop);

  g_source_remove(readable);
  g_main_loop_unref(loop);
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
