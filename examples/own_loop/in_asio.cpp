// SPDX-License-Identifier: Apache-2.0
// kubecxx inside a Boost.Asio program, in one thread.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <functional>

#include "follower.hpp"

namespace asio = boost::asio;

int main() try {
  asio::io_context context{1};
  const auto runtime = std::make_shared<kube::Runtime>(kube::RuntimeOptions{.threads = 0});
  const Follower follower{runtime};

  asio::posix::stream_descriptor descriptor{context, runtime->loop().descriptor()};
  std::function<void()> wait = [&] {
    descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                          [&](const boost::system::error_code& error) {
                            if (error) return;
                            // Asio is edge-triggered, so all ready work must be done before it
                            // waits again.
                            while (runtime->loop().run_ready()) {
                            }
                            wait();
                          });
  };
  wait();

  asio::signal_set signals{context, SIGINT, SIGTERM};
  signals.async_wait([&](const boost::system::error_code&, int) { context.stop(); });
  context.run();
  descriptor.release();  // owned by the Runtime
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
