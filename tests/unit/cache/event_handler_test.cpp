// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/shared_informer.hpp>
#include <kube/codec/json.hpp>

#include "shared_informer_fixture.hpp"
#include "support/recorder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Item;
using testing_support::item;
using testing_support::Recorder;
using Strings = std::vector<std::string>;

// P-14, P-15
TEST(EventHandlers, FilterTurnsChangesIntoAdditionsAndDeletions) {
  Recorder recorder;
  const EventHandler<Item> handler =
      filtered<Item>([](const Item& object) { return object.metadata.labels.contains("yes"); },
                     recorder.handler());
  const Ref<Item> yes1 = item("a", "x", "1", {{"yes", ""}});
  const Ref<Item> yes2 = item("a", "x", "2", {{"yes", ""}});
  const Ref<Item> no = item("a", "x", "3");
  handler.on_add(no, true);
  handler.on_add(yes1, true);
  handler.on_update(yes1, yes2);
  handler.on_update(yes2, no);
  handler.on_update(no, no);
  handler.on_update(no, yes1);
  handler.on_delete({key_of(*no), no, true});
  handler.on_delete({key_of(*yes1), yes1, false});
  EXPECT_EQ(recorder.events(), (Strings{"add* a/x@1", "update a/x@1>2", "delete a/x@2", "add a/x@1",
                                        "delete? a/x@1"}));
  const EventHandler<Item> nothing = filtered<Item>([](const Item&) { return true; }, {});
  nothing.on_add(yes1, false);
  nothing.on_update(yes1, yes2);
  nothing.on_delete({key_of(*yes1), yes1, true});
}

// P-15, S-33, I-3
TEST(EventHandlers, TakeFunctionsOfEachForm) {
  int calls = 0;
  const EventHandler<Item> handlers[] = {
      {.on_add = [&](const Item&) { ++calls; }},
      {.on_add = [&](const Item&, bool) { ++calls; }},
      {.on_add = [&](const Ref<Item>&) { ++calls; }},
      {.on_add = [&](const Ref<Item>&, bool) { ++calls; }},
      {.on_update = [&](const Item&, const Item&) { ++calls; }},
      {.on_update = [&](const Ref<Item>&, const Ref<Item>&) { ++calls; }},
      {.on_delete = [&](const Deleted<Item>&) { ++calls; }},
      {.on_delete = [&](const Item&) { ++calls; }},
      {.on_delete = [&](const Ref<Item>&) { ++calls; }},
  };
  const Ref<Item> object = item("a", "x", "1");
  for (const auto& handler : handlers) {
    if (handler.on_add) handler.on_add(object, true);
    if (handler.on_update) handler.on_update(object, object);
    if (handler.on_delete) handler.on_delete({key_of(*object), object, true});
  }
  EXPECT_EQ(calls, 9);

  Deleted<Item> seen;
  const auto any =
      detail::erase_handler<Item>({.on_delete = [&](const Deleted<Item>& gone) { seen = gone; }});
  any.on_delete({}, "a/x", false);
  EXPECT_EQ(seen.key, (ObjectKey{"a", "x"}));
  EXPECT_EQ(seen.object, nullptr);
  EXPECT_FALSE(seen.final_state_known);
  EXPECT_FALSE(any.on_add);
}

TEST(EventHandlers, GiveDeletedObjectsAsTheyWereSeenLast) {
  const Ref<Item> last = item("a", "x", "1");
  const Item* by_reference = nullptr;
  Ref<Item> by_ref;
  const EventHandler<Item> one{.on_delete = [&](const Item& gone) { by_reference = &gone; }};
  const EventHandler<Item> two{.on_delete = [&](const Ref<Item>& gone) { by_ref = gone; }};

  one.on_delete({key_of(*last), last, true});
  two.on_delete({key_of(*last), last, true});

  EXPECT_EQ(by_reference, last.get());
  EXPECT_EQ(by_ref, last);
}

// I-3, S-33
TEST(EventHandlers, LoseNoDeletionWithOnlyAKey) {
  std::vector<std::string> told;
  const auto tell = [&](const auto& gone) { told.push_back(key_of(gone).str()); };
  const auto by_reference =
      detail::erase_handler<Item>({.on_delete = [&](const Item& gone) { tell(gone); }});
  const auto by_ref =
      detail::erase_handler<Item>({.on_delete = [&](const Ref<Item>& gone) { tell(*gone); }});
  const auto untyped = detail::erase_handler<Value>(
      {.on_delete = [&](const Value& gone) { told.push_back(encode_json(gone)); }});

  by_reference.on_delete({}, "a/x", false);
  by_ref.on_delete({}, "a/x", false);
  untyped.on_delete({}, "a/x", false);
  untyped.on_delete({}, "node", false);

  EXPECT_EQ(told, (Strings{"a/x", "a/x", R"({"metadata":{"name":"x","namespace":"a"}})",
                           R"({"metadata":{"name":"node"}})"}));
}

}  // namespace
}  // namespace kube
