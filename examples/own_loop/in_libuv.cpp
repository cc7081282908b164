// SPDX-License-Identifier: Apache-2.0
// kubecxx inside a libuv loop, in one thread.
#include <uv.h>

#include <csignal>

#include "follower.hpp"

int main() try {
  const auto runtime = std::make_shared<kube::Runtime>(kube::RuntimeOptions{.threads = 0});
  const Follower follower{runtime};

  uv_loop_t* const loop = uv_default_loop();
  uv_poll_t poll;
  uv_poll_init(loop, &poll, runtime->loop().descriptor());
  poll.data = runtime.get();
  uv_poll_start(&poll, UV_READABLE, [](uv_poll_t* handle, int, int) {
    static_cast<kube::Runtime*>(handle->data)->loop().run_ready();
  });

  uv_signal_t interrupt;
  uv_signal_init(loop, &interrupt);
  uv_signal_start(
      &interrupt, [](uv_signal_t* handle, int) { uv_stop(handle->loop); }, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);

  for (auto* handle :
       {reinterpret_cast<uv_handle_t*>(&poll), reinterpret_cast<uv_handle_t*>(&interrupt)}) {
    uv_close(handle, nullptr);
  }
  uv_run(loop, UV_RUN_DEFAULT);
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
