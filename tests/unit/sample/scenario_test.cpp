// SPDX-License-Identifier: Apache-2.0
// The same scenarios for both forms of the sample controller, over real sockets.
#include "scenario.hpp"

#include "builder/run.hpp"
#include "classic/run.hpp"

#include <kube/api/coordination/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/api/owner_references.hpp>

namespace sample {
namespace {

using kube::coordination::v1::Lease;

struct Form {
  const char* name;
  RunController run;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

class SampleController : public Scenario, public testing::WithParamInterface<Form> {
 protected:
  std::unique_ptr<Running> start(RunOptions how) {
    return Scenario::start(GetParam().run, std::move(how));
  }
  std::unique_ptr<Running> start() { return start(options()); }
  /// Returns how many Deployments were ever created, as an informer sees it. There may have been
  /// more attempts: a cache lags behind.
  [[nodiscard]] int creations() const { return created_; }

 private:
  std::atomic<int> created_ = 0;
  kube::SharedIndexInformer<Deployment> witness_{
      std::make_shared<kube::ResourceListWatch<Deployment>>(deployments())};
  const kube::HandlerRegistration registration_ =
      witness_.add_event_handler({.on_add = [this](const Deployment&) { ++created_; }});
  std::jthread watching_{[this](std::stop_token stop) { witness_.run(std::move(stop)); }};
};

/// Scenarios that need the in-process server.
class SampleControllerInTrouble : public SampleController {
 protected:
  void SetUp() override {
    if (server.is_real()) GTEST_SKIP() << kube::testing_support::kNeedsFaults;
  }
};

const auto kForms = testing::Values(Form{"Classic", run_classic}, Form{"Builder", run_builder});
std::string form_name(const testing::TestParamInfo<Form>& form) { return form.param.name; }
INSTANTIATE_TEST_SUITE_P(Forms, SampleController, kForms, form_name);
INSTANTIATE_TEST_SUITE_P(Forms, SampleControllerInTrouble, kForms, form_name);

// SC-1: the limits of the schema.
TEST_P(SampleController, FoosHaveOneToTenReplicas) {
  for (const std::int32_t replicas : {0, 11}) {
    try {
      create_foo("a", "web", replicas);
      ADD_FAILURE() << replicas << " replicas are let in";
    } catch (const kube::ApiError& error) {
      EXPECT_TRUE(kube::is_invalid(error)) << error.what();
    }
  }
  EXPECT_NE(create_foo("a", "web", 10), nullptr);
}

// SC-4
TEST_P(SampleController, CreatesTheDeploymentOfAFoo) {
  const auto running = start();
  const auto foo = create_foo("a", "web", 3);

  ASSERT_TRUE(eventually([&] { return deployment("web") != nullptr; }));
  const auto made = deployment("web");
  EXPECT_EQ(made->spec.replicas, 3);
  const auto* owner = kube::controller_of(made->metadata);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(owner->kind, "Foo");
  EXPECT_EQ(owner->api_version, "samplecontroller.k8s.io/v1alpha1");
  EXPECT_EQ(owner->uid, foo->metadata.uid);
  EXPECT_EQ(owner->controller, true);
  EXPECT_EQ(owner->block_owner_deletion, true);
  for (const auto* labels :
       {&made->spec.selector->match_labels, &made->spec.template_.metadata.labels}) {
    EXPECT_EQ(labels->size(), 2U);
    EXPECT_EQ(labels->at("app"), "nginx");
    EXPECT_EQ(labels->at("controller"), "a");
  }
  ASSERT_EQ(made->spec.template_.spec.containers.size(), 1U);
  EXPECT_EQ(made->spec.template_.spec.containers.front().image, "nginx:latest");
  ASSERT_EQ(made->metadata.managed_fields.size(), 1U);
  EXPECT_EQ(made->metadata.managed_fields.front().manager, kAgentName);
}

// SC-2, SC-6
TEST_P(SampleController, FollowsTheStatusOfItsDeployment) {
  const auto running = start();
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return deployment("web") && shows_available("a", 0); }));

  set_available("web", 2);

  EXPECT_TRUE(eventually([&] { return shows_available("a", 2); }));
  EXPECT_TRUE(eventually([&] { return events("a", "Normal", kReasonSynced) > 0; }));
  if (server.is_real()) return;
  for (const auto& request : server->requests().entries({.verb = "update", .resource = "foos"})) {
    EXPECT_EQ(request.info.subresource, "status");
  }
}

// SC-6
TEST_P(SampleController, CorrectsWhatOthersChange) {
  const auto running = start();
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return deployment("web") && shows_available("a", 0); }));
  const auto uid = deployment("web")->metadata.uid.str();

  change_deployment("web", [](Deployment& one) { one.spec.replicas = 7; });
  EXPECT_TRUE(eventually([&] { return has_replicas("web", 2); }));

  scale_foo("a", 5);
  EXPECT_TRUE(eventually([&] { return has_replicas("web", 5); }));
  EXPECT_EQ(deployment("web")->metadata.uid, uid);
}

// SC-6: the controller manages only fields that the Foo sets.
TEST_P(SampleController, LeavesReplicasAloneIfTheFooDoesNotSetThem) {
  const auto running = start();
  create_foo("a", "web", std::nullopt);
  ASSERT_TRUE(eventually([&] { return has_replicas("web", 1); }));

  change_deployment("web", [](Deployment& one) { one.spec.replicas = 4; });
  set_available("web", 4);

  EXPECT_TRUE(eventually([&] { return shows_available("a", 4); }));
  EXPECT_TRUE(has_replicas("web", 4));
}

// SC-2
TEST_P(SampleController, RecreatesADeletedDeployment) {
  const auto running = start();
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return deployment("web") && shows_available("a", 0); }));
  const auto uid = deployment("web")->metadata.uid.str();

  deployments().delete_("web");

  EXPECT_TRUE(eventually([&] {
    const auto now = deployment("web");
    return now && now->metadata.uid != uid;
  }));
}

// SC-6: conflicts cost only time.
TEST_P(SampleController, ConvergesDespiteOtherWriters) {
  const auto running = start();
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return deployment("web") && shows_available("a", 0); }));

  for (int i = 0; i < 20; ++i) {
    scale_foo("a", 1 + i % 9);
    change_deployment("web", [&](Deployment& one) {
      one.metadata.annotations["round"] = std::to_string(i);
      one.spec.replicas = 10;
    });
    set_available("web", i);
  }

  EXPECT_TRUE(eventually([&] { return has_replicas("web", 2) && shows_available("a", 19); }));
}

// SC-4, SC-6: whatever the server answers, the Foo is retried.
TEST_P(SampleControllerInTrouble, TriesAgainAfterAConflict) {
  const auto running = start();
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return deployment("web") && shows_available("a", 0); }));

  server->faults().next(2).matching({.verb = "update", .resource = "deployments"}).respond(409);
  scale_foo("a", 3);
  EXPECT_TRUE(eventually([&] { return has_replicas("web", 3); }));

  server->faults()
      .next(2)
      .matching({.verb = "update", .resource = "foos", .subresource = "status"})
      .respond(409);
  set_available("web", 3);
  EXPECT_TRUE(eventually([&] { return shows_available("a", 3); }));
  EXPECT_EQ(server->faults().waiting(), 0U);
}

// SC-4: the Deployment exists, but the response was lost.
TEST_P(SampleControllerInTrouble, MakesOneDeploymentEvenIfTheAnswerIsLost) {
  server->faults().next().matching({.verb = "create", .resource = "deployments"}).lose_answer();
  const auto running = start();
  create_foo("a", "web", 2);

  EXPECT_TRUE(eventually([&] { return deployment("web") && shows_available("a", 0); }));
  EXPECT_EQ(server->faults().waiting(), 0U);
  EXPECT_EQ(server.count<Deployment>(space), 1U);
  EXPECT_EQ(events("a", "Warning", kReasonResourceExists), 0);
}

// SC-5
TEST_P(SampleController, DoesNotTouchADeploymentOwnedByOthers) {
  Foo nobody{.metadata = {.name = "nobody", .namespace_ = space},
             .spec = {.deployment_name = "web", .replicas = 1}};
  Deployment foreign = desired_deployment(nobody);
  foreign.metadata.owner_references = {};
  deployments().create(foreign);
  const auto version = deployment("web")->metadata.resource_version.str();
  const auto running = start();

  create_foo("a", "web", 5);

  EXPECT_TRUE(eventually([&] { return events("a", "Warning", kReasonResourceExists) >= 2; }))
      << "no second try";
  EXPECT_EQ(deployment("web")->metadata.resource_version, version);
  EXPECT_EQ(events("a", "Normal", kReasonSynced), 0);
  EXPECT_EQ(server.find<Foo>(space, "a")->status.available_replicas, std::nullopt);

  deployments().delete_("web");  // the name is free now
  EXPECT_TRUE(eventually([&] { return has_replicas("web", 5) && shows_available("a", 0); }));
}

// SC-5: if two Foos want the same Deployment, the first one owns it, by UID.
TEST_P(SampleController, DoesNotTakeADeploymentFromAnotherFoo) {
  const auto running = start();
  create_foo("first", "web", 2);
  ASSERT_TRUE(eventually([&] { return shows_available("first", 0); }));

  create_foo("second", "web", 9);

  EXPECT_TRUE(eventually([&] { return events("second", "Warning", kReasonResourceExists) > 0; }));
  EXPECT_TRUE(has_replicas("web", 2));
}

// SC-2, SC-3, SC-4: a deleted Foo needs no work, and its Deployment is garbage. If the controller
// sees the deletion of the Deployment first, it creates another one, which is garbage as well.
TEST_P(SampleController, LeavesTheDeploymentOfADeletedFooToGarbageCollection) {
  const auto running = start();
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return deployment("web") && shows_available("a", 0); }));

  foos().delete_("a");
  const auto gone = [&] {
    collect_garbage();
    return deployment("web") == nullptr;
  };
  ASSERT_TRUE(eventually(gone));

  create_foo("b", "next",
             1);  // once this one is done, the controller has seen the deletion of the other
  ASSERT_TRUE(eventually([&] { return shows_available("b", 0); }));
  EXPECT_TRUE(eventually(gone));
}

// SC-3: only the owner marked as controller counts, and only if it is a Foo.
TEST_P(SampleController, ReconcilesOnlyForDeploymentsControlledByAFoo) {
  const auto running = start();
  const auto foo = create_foo("a", "", 1);  // so that each reconcile logs a line
  const auto looks = [&] { return lines.count("names no Deployment"); };
  ASSERT_TRUE(eventually([&] { return looks() == 1; }));
  const auto create_owned = [&](std::string_view name, std::string_view kind, bool controller) {
    Foo maker = *foo;
    maker.spec.deployment_name = name;
    Deployment made = desired_deployment(maker);
    made.metadata.owner_references = {{.api_version = Foo::kube_type.api_version,
                                       .kind = kind,
                                       .name = "a",
                                       .uid = foo->metadata.uid,
                                       .controller = controller}};
    server.create(made);
  };

  create_owned("of-a-bar", "Bar", true);
  create_owned("not-controlled", "Foo", false);
  create_foo("b", "next", 1);
  ASSERT_TRUE(eventually([&] { return shows_available("b", 0); }));
  EXPECT_EQ(looks(), 1U);

  create_owned("controlled", "Foo", true);
  EXPECT_TRUE(eventually([&] { return looks() == 2; }));
}

// SC-4: no retry before the Foo changes.
TEST_P(SampleController, DoesNotRetryAFooWithoutADeploymentName) {
  const auto running = start();
  create_foo("a", "", 1);
  ASSERT_TRUE(eventually([&] { return lines.count("names no Deployment") > 0; }));

  create_foo("b", "web", 1);
  ASSERT_TRUE(eventually([&] { return shows_available("b", 0); }));

  EXPECT_EQ(lines.count("names no Deployment"), 1U);
  EXPECT_TRUE(eventually([&] { return creations() == 1; }));
}

// SC-1: each Foo is reconciled every 30 s.
TEST_P(SampleController, ReconcilesEachFooPeriodically) {
  const auto running = start();
  create_foo("a", "web", 1);
  ASSERT_TRUE(eventually([&] { return events("a", "Normal", kReasonSynced) > 0; }));
  const int before = events("a", "Normal", kReasonSynced);

  EXPECT_TRUE(eventually([&] { return events("a", "Normal", kReasonSynced) > before; }, 500ms));
}

// SC-2: as long as one cache is empty, nothing may count as missing.
TEST_P(SampleControllerInTrouble, WaitsForBothCaches) {
  server->faults().always().matching({.resource = "deployments"}).respond(500);
  create_foo("a", "web", 1);
  auto running = start();
  ASSERT_TRUE(eventually([&] {
    return server->requests().count({.resource = "foos"}) > 1 && server->faults().struck() > 5;
  }));
  EXPECT_EQ(creations(), 0);

  server->faults().clear();
  EXPECT_TRUE(eventually([&] { return shows_available("a", 0); }));
  EXPECT_TRUE(eventually([&] { return creations() == 1; }));
}

TEST_P(SampleController, GoesOnAfterItsOwnRestart) {
  auto running = start();
  create_foo("a", "web", 2);
  create_foo("gone", "old", 1);
  ASSERT_TRUE(eventually([&] { return shows_available("a", 0) && shows_available("gone", 0); }));
  EXPECT_EQ(running->stop(), "");

  scale_foo("a", 6);
  foos().delete_("gone");
  collect_garbage();
  create_foo("b", "new", 3);
  metrics = std::make_shared<kube::Metrics>();
  running = start();

  EXPECT_TRUE(eventually([&] { return has_replicas("web", 6) && has_replicas("new", 3); }));
  EXPECT_TRUE(eventually([&] { return shows_available("b", 0); }));
  EXPECT_TRUE(eventually([&] { return deployment("old") == nullptr; }));
  EXPECT_TRUE(eventually([&] { return creations() == 3; }));
}

TEST_P(SampleController, GoesOnAfterARestartOfTheServer) {
  const auto running = start();
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return shows_available("a", 0); }));

  server.restart();
  scale_foo("a", 4);
  create_foo("b", "next", 1);

  EXPECT_TRUE(eventually([&] { return has_replicas("web", 4) && shows_available("b", 0); }));
}

// All faults between controller and server occur, and in the end the state is correct.
TEST_P(SampleControllerInTrouble, ConvergesDespiteFaults) {
  constexpr int kFoos = 12;
  server->faults().always().matching({.verb = "watch"}).with_probability(0.5).drop_after(4);
  server->faults()
      .always()
      .matching({.resource = "deployments"})
      .with_probability(0.2)
      .respond(500);
  server->faults()
      .always()
      .matching({.resource = "foos"})
      .with_probability(0.1)
      .break_before_head();
  server->faults().always().matching({.verb = "create"}).with_probability(0.2).lose_answer();
  const auto running = start();
  for (int i = 0; i < kFoos; ++i) {
    Foo foo{.metadata = {.name = "foo-" + std::to_string(i), .namespace_ = space},
            .spec = {.deployment_name = "web-" + std::to_string(i), .replicas = 1 + i % 3}};
    server.create(foo);
  }
  ASSERT_TRUE(eventually([&] { return server.count<Deployment>(space) == kFoos; }));
  server->faults().expire_history().drop_connections();
  server.remove<Deployment>(space, "web-0");
  ASSERT_TRUE(eventually([&] { return server->faults().struck() > 10; }));

  server->faults().clear();
  server->faults().drop_connections();

  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < kFoos; ++i) {
      if (!has_replicas("web-" + std::to_string(i), 1 + i % 3)) return false;
      if (!shows_available("foo-" + std::to_string(i), 0)) return false;
    }
    return true;
  }));
  EXPECT_EQ(server.count<Deployment>(space), static_cast<std::size_t>(kFoos));
}

// LE-1, LE-8: one works, one waits; the one that ends releases the Lease.
TEST_P(SampleController, OfTwoOnlyTheLeaderWorks) {
  RunOptions of_first = options();
  of_first.leader_elect = true;
  of_first.identity = "first";
  RunOptions of_second = of_first;
  of_second.identity = "second";
  of_second.metrics = nullptr;
  const auto holder = [&] {
    const auto lease = server.find<Lease>(space, kAgentName);
    return lease ? std::string{lease->spec.holder_identity.value_or("")} : "";
  };
  const auto first = start(of_first);
  ASSERT_TRUE(eventually([&] { return holder() == "first"; }, 5ms));
  const auto second = start(of_second);
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return shows_available("a", 0); }, 5ms));
  EXPECT_EQ(holder(), "first");

  EXPECT_EQ(first->stop(), "");
  scale_foo("a", 3);

  EXPECT_TRUE(eventually([&] { return has_replicas("web", 3); }, 5ms));
  EXPECT_EQ(holder(), "second");
}

// LE-4, LE-10
TEST_P(SampleController, EndsWhenItHasLostTheLease) {
  RunOptions elected = options();
  elected.leader_elect = true;
  const auto running = start(elected);
  create_foo("a", "web", 2);
  ASSERT_TRUE(eventually([&] { return shows_available("a", 0); }, 5ms));

  const auto leases = client.coordination().v1().leases(space);
  kube::retry_on_conflict([&] {
    Lease lease = *leases.get(kAgentName);
    lease.spec.holder_identity = "usurper";
    return leases.update(lease);
  });

  ASSERT_TRUE(eventually([&] { return running->ended(); }, 5ms));
  EXPECT_NE(running->stop(), "");
  scale_foo("a", 9);
  EXPECT_TRUE(has_replicas("web", 2));
}

}  // namespace
}  // namespace sample
