// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>
#include <kube/informers/shared_informer_factory.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "factory_support.hpp"

namespace kube {
namespace {

using core::v1::ConfigMap;

/// The objects of a parent process when it forks; its threads are running.
class ForkTest : public testing_support::FactoryTest {
 protected:
  ForkTest() {
    server.create(config_map(space, "one"));
    factory->informer<ConfigMap>();
    factory->start();
    EXPECT_TRUE(factory->wait_for_cache_sync());
    watch.emplace(client->resource<ConfigMap>(space).watch());
  }

  /// Runs the function in a child, which must end in time. Returns its result.
  [[nodiscard]] static bool in_child(const std::function<bool()>& function) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);
      ::_exit(function() ? 0 : 1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  template <typename Call>
  [[nodiscard]] static bool is_refused(const Call& call) {
    try {
      call();
    } catch (const std::logic_error&) {
      return true;
    }
    return false;
  }

  std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>();
  std::optional<Client> client{std::in_place, server.config(),
                               ClientOptions{.log = Logger{}, .runtime = runtime}};
  std::unique_ptr<SharedInformerFactory> factory =
      std::make_unique<SharedInformerFactory>(*client, FactoryOptions{.namespace_ = space});
  std::optional<Watch<ConfigMap>> watch;
};

// LO-10: repeated, as the parent's threads are in another state each time.
TEST_F(ForkTest, ChildDestroysObjectsOfItsParent) {
  for (int round = 0; round < 20; ++round) {
    server.create(config_map(space, "round-" + std::to_string(round)));
    EXPECT_TRUE(in_child([&] {
      watch.reset();
      factory.reset();
      client.reset();
      runtime.reset();
      return true;
    }));
  }
  server.create(config_map(space, "last"));
  EXPECT_TRUE(server.wait_for([&] {
    return factory->lister<ConfigMap>().find({space, "last"}) != nullptr;
  }));
}

// LO-10
TEST_F(ForkTest, ChildGetsALogicErrorForOtherCalls) {
  const auto informer = factory->informer<ConfigMap>();
  EXPECT_TRUE(in_child([&] {
    auto mine = informer;
    return is_refused([&] { (void)client->resource<ConfigMap>(space).get("one"); }) &&
           is_refused([&] { factory->start(); }) && is_refused([&] { factory->shutdown(); }) &&
           is_refused([&] { (void)factory->wait_for_cache_sync(); }) &&
           is_refused([&] { mine.add_event_handler({}); }) &&
           is_refused([&] { (void)mine.has_synced(); }) &&
           is_refused([&] { (void)runtime->threads(); }) &&
           is_refused([&] { runtime->loop().post([] {}); }) &&
           is_refused([] { const Runtime second; });
  }));
}

// LO-10
TEST_F(ForkTest, ChildReadsAndReleasesObjects) {
  std::vector<Ref<ConfigMap>> objects = factory->lister<ConfigMap>().list();
  EXPECT_TRUE(in_child([&] {
    const bool readable = objects.size() == 1 && objects[0]->metadata.name == "one";
    objects.clear();
    return readable;
  }));
}

}  // namespace
}  // namespace kube
