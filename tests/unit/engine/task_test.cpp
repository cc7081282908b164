// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/sleep.hpp>
#include <kube/engine/spawn.hpp>
#include <kube/engine/task.hpp>
#include <kube/engine/when_all.hpp>
#include <kube/engine/when_any.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/serial_queue_core.hpp"
#include "helpers.hpp"
#include "support/task_outcome.hpp"

namespace kube::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool happens(const DoneSignal& signal) {
  return becomes_true([&] { return signal.done(); });
}

Task<int> number(int value) { co_return value; }
Task<int> failing(std::string message) {
  throw std::runtime_error(message);
  co_return 0;
}
Task<int> sum(int from, int to) {
  int total = 0;
  for (int i = from; i < to; ++i) total += co_await number(i);
  co_return total;
}

struct TaskTest : ThreadsEnd {
  template <typename T>
  Outcome<T> run(Task<T> task) {
    Outcome<T> outcome;
    EXPECT_TRUE(happens(spawn(runtime, keep(std::move(task), outcome))));
    return outcome;
  }

  Lines lines;
  void TearDown() override {
    owned_.reset();
    ThreadsEnd::TearDown();
  }

 private:
  std::unique_ptr<Runtime> owned_ =
      std::make_unique<Runtime>(RuntimeOptions{.threads = 2, .log = lines.logger()});

 public:
  Runtime& runtime = *owned_;
};

TEST_F(TaskTest, EndsWithItsValueOrItsException) {
  EXPECT_EQ(run(sum(0, 5)).value, 10);
  EXPECT_EQ(run(failing("no luck")).error, "no luck");
}

// AV-1
TEST_F(TaskTest, DoesNothingBeforeItIsStarted) {
  bool ran = false;
  const auto body = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  { const Task<void> unused = body(ran); }
  EXPECT_FALSE(ran);
  EXPECT_TRUE(happens(spawn(runtime, body(ran))));
  EXPECT_TRUE(ran);
}

// AV-7
TEST_F(TaskTest, CopiesItsArguments) {
  auto task = [] {
    const auto text = [](std::string copied) -> Task<std::string> { co_return copied + "!"; };
    return text(std::string(100, 'x'));
  }();
  EXPECT_EQ(run(std::move(task)).value, std::string(100, 'x') + "!");
}

// AV-6: this program is compiled without optimisation, where g++ makes no tail calls.
TEST_F(TaskTest, DoesNotGrowTheStackWithAMillionAwaits) {
  struct Stack {
    static Task<int> note(std::uintptr_t& lowest) {
      lowest = std::min(lowest, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
      co_return 1;
    }
    static Task<int> loop(std::uintptr_t& first, std::uintptr_t& lowest) {
      int total = co_await note(first);
      for (int i = 1; i < 1'000'000; ++i) total += co_await note(lowest);
      co_return total;
    }
  };
  std::uintptr_t first = UINTPTR_MAX;
  std::uintptr_t lowest = UINTPTR_MAX;
  EXPECT_EQ(run(Stack::loop(first, lowest)).value, 1'000'000);
  EXPECT_EQ(first, lowest);
}

// AV-6: waits that end immediately.
TEST_F(TaskTest, DoesNotGrowTheStackWithAMillionWaitsThatAreOverAtOnce) {
  DoneSignal happened;
  happened.fire();
  const auto loop = [](DoneSignal signal) -> Task<int> {
    int count = 0;
    for (int i = 0; i < 1'000'000; ++i) count += (co_await signal) ? 1 : 0;
    co_return count;
  };
  EXPECT_EQ(run(loop(happened)).value, 1'000'000);
}

// AV-6: a chain of Tasks, each of which awaits the next.
TEST_F(TaskTest, AwaitsToADepthThatTheStackWouldNotAllow) {
  struct Chain {
    static Task<int> down(int left) {
      if (left == 0) co_return 0;
      co_return 1 + co_await down(left - 1);
    }
  };
  EXPECT_EQ(run(Chain::down(100'000)).value, 100'000);
}

TEST_F(TaskTest, IsAwaitedOnce) {
  const auto twice = [](Task<int> task) -> Task<int> {
    const int value = co_await std::move(task);
    co_return value + co_await std::move(task);
  };
  EXPECT_THAT(run(twice(number(1))).error, HasSubstr("awaited before"));
  EXPECT_THROW((void)spawn(runtime, Task<void>{}), std::invalid_argument);
}

// AV-2
TEST_F(TaskTest, StaysOnItsQueueAcrossWaits) {
  SerialQueue queue{runtime};
  DoneSignal signal;
  std::atomic<bool> stayed = false;
  const auto body = [](SerialQueue& on, DoneSignal waited,
                       std::atomic<bool>& result) -> Task<void> {
    const auto* const core = detail::Inside::core(on).get();
    const bool before = detail::SerialQueueCore::current() == core;
    co_await waited;
    result = before && detail::SerialQueueCore::current() == core;
  };
  const DoneSignal done = spawn(queue, body(queue, signal, stayed));
  signal.fire();
  ASSERT_TRUE(happens(done));
  EXPECT_TRUE(stayed);
}

// AV-2: resume_on() moves a Task; the Task that awaits it continues on its own queue.
TEST_F(TaskTest, MovesToAnotherQueueAndBack) {
  SerialQueue home{runtime};
  SerialQueue away{runtime, Delivery::kInline};
  static const auto here = [] { return detail::SerialQueueCore::current(); };
  std::vector<const void*> seen;
  const auto child = [](SerialQueue& to, std::vector<const void*>& where) -> Task<void> {
    where.push_back(here());
    co_await resume_on(to);
    where.push_back(here());
    DoneSignal signal;
    signal.fire();
    co_await signal;
    co_await resume_on(to);
    where.push_back(here());
  };
  const auto parent = [&](std::vector<const void*>& where) -> Task<void> {
    co_await child(away, where);
    where.push_back(here());
  };
  ASSERT_TRUE(happens(spawn(home, parent(seen))));
  const void* const h = detail::Inside::core(home).get();
  const void* const a = detail::Inside::core(away).get();
  EXPECT_THAT(seen, ElementsAre(h, a, a, h));

  Runtime other{{.threads = 1, .log = Logger{}}};
  SerialQueue foreign{other};
  const auto lost = [](SerialQueue& to) -> Task<int> {
    co_await resume_on(to);
    co_return 1;
  };
  EXPECT_THAT(run(lost(foreign)).error, HasSubstr("another Runtime"));
}

// AV-4
TEST_F(TaskTest, SleepsByTheClockThatIsGiven) {
  testkit::FakeClock clock;
  std::atomic<int> rounds = 0;
  const auto body = [](Runtime& on, Clock& by, std::atomic<int>& count) -> Task<void> {
    while (co_await sleep(on, 10s, by)) {
      if (++count == 2) co_return;
    }
  };
  const DoneSignal done = spawn(runtime, body(runtime, clock, rounds));
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(9s);
  EXPECT_EQ(rounds, 0);
  clock.advance(1s);
  ASSERT_TRUE(becomes_true([&] { return rounds == 1; }));
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(10s);
  ASSERT_TRUE(happens(done));
}

// AV-2, AV-4: a stop ends the wait of a sleep, of a signal, and of Tasks that the spawned one
// awaits.
TEST_F(TaskTest, EndsItsWaitsAfterAStop) {
  testkit::FakeClock clock;
  std::stop_source stop;
  Outcome<bool> slept;
  Outcome<bool> signaled;
  const auto sleeping = [](Runtime& on, Clock& by) -> Task<bool> {
    co_return co_await sleep(on, 1h, by);
  };
  const auto waiting = [](DoneSignal signal) -> Task<bool> { co_return co_await signal; };
  const DoneSignal first =
      spawn(runtime, keep(sleeping(runtime, clock), slept), Delivery::kQueued, stop.get_token());
  const DoneSignal second =
      spawn(runtime, keep(waiting(DoneSignal{}), signaled), Delivery::kInline, stop.get_token());
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  stop.request_stop();
  ASSERT_TRUE(happens(first));
  ASSERT_TRUE(happens(second));
  EXPECT_EQ(slept.value, false);
  EXPECT_EQ(signaled.value, false);
  EXPECT_EQ(clock.sleepers(), 0U);
}

// AV-2: the coroutine is not resumed inside request_stop() or fire(), but on its queue.
TEST_F(TaskTest, IsNotResumedInTheThreadThatWakesIt) {
  for (const bool by_stop : {false, true}) {
    std::stop_source stop;
    DoneSignal signal;
    Counter waits;
    std::atomic<std::thread::id> resumed_in{};
    const auto body = [](DoneSignal waited, Counter& count,
                         std::atomic<std::thread::id>& thread) -> Task<void> {
      count.add();
      co_await waited;
      thread = std::this_thread::get_id();
    };
    const DoneSignal done =
        spawn(runtime, body(signal, waits, resumed_in), Delivery::kQueued, stop.get_token());
    ASSERT_TRUE(waits.reaches(1));
    if (by_stop) {
      stop.request_stop();
    } else {
      signal.fire();
    }
    ASSERT_TRUE(happens(done));
    EXPECT_NE(resumed_in.load(), std::this_thread::get_id());
  }
}

// AV-2: exactly one of the two resumes it, once.
TEST_F(TaskTest, IsResumedOnceIfTheSignalAndAStopRace) {
  int happened = 0;
  for (int i = 0; i < 2000; ++i) {
    std::stop_source stop;
    DoneSignal signal;
    Outcome<bool> outcome;
    int resumed = 0;
    const auto body = [](DoneSignal waited, int& count) -> Task<bool> {
      const bool result = co_await waited;
      ++count;
      co_return result;
    };
    const DoneSignal done =
        spawn(runtime, keep(body(signal, resumed), outcome), Delivery::kQueued, stop.get_token());
    {
      const std::jthread other{[&] { stop.request_stop(); }};
      signal.fire();
    }
    ASSERT_TRUE(happens(done));
    ASSERT_EQ(resumed, 1);
    ASSERT_TRUE(outcome.value.has_value());
    happened += *outcome.value ? 1 : 0;
  }
  RecordProperty("happened", happened);
}

// AV-4
TEST_F(TaskTest, RunsTasksSideBySideAndCollectsTheirResults) {
  const auto pair = []() -> Task<std::string> {
    const auto [a, b, c] =
        co_await when_all(number(1), sum(0, 4), []() -> Task<void> { co_return; }());
    co_return std::to_string(a) + "," + std::to_string(b);
  };
  EXPECT_EQ(run(pair()).value, "1,6");

  // Each waits for the next, so they have to run concurrently.
  constexpr std::size_t kTasks = 200;
  std::vector<DoneSignal> signals(kTasks + 1);
  for (DoneSignal& signal : signals) signal = DoneSignal{};
  const auto link = [](DoneSignal after, DoneSignal before, int value) -> Task<int> {
    co_await after;
    before.fire();
    co_return value;
  };
  std::vector<Task<int>> tasks;
  for (std::size_t i = 0; i < kTasks; ++i) {
    tasks.push_back(link(signals[i + 1], signals[i], static_cast<int>(i)));
  }
  signals[kTasks].fire();
  const auto all = run(when_all(std::move(tasks)));
  ASSERT_TRUE(all.value) << all.error;
  EXPECT_EQ(all.value->size(), kTasks);
  EXPECT_EQ(all.value->back(), static_cast<int>(kTasks) - 1);
}

// AV-4
TEST_F(TaskTest, WaitsForAllBeforeItReportsTheFirstFailure) {
  bool other_ended = false;
  const auto slow = [](DoneSignal signal, bool& ended) -> Task<int> {
    co_await signal;
    ended = true;
    co_return 1;
  };
  DoneSignal signal;
  const auto late = [](DoneSignal fired) -> Task<int> {
    fired.fire();
    co_return co_await failing("second");
  };
  EXPECT_EQ(run([&]() -> Task<int> {
              co_await when_all(slow(signal, other_ended), failing("first"), late(signal));
              co_return 0;
            }())
                .error,
            "first");
  EXPECT_TRUE(other_ended);
}

// AV-4
TEST_F(TaskTest, StopsTheOthersWhenTheFirstHasEnded) {
  testkit::FakeClock clock;
  int ended = 0;
  const auto sleeping = [](Runtime& on, Clock& by, int& count) -> Task<int> {
    const bool came = co_await sleep(on, 1h, by);
    ++count;
    co_return came ? 1 : 0;
  };
  const auto body = [&]() -> Task<std::size_t> {
    std::vector<Task<int>> tasks;
    tasks.push_back(sleeping(runtime, clock, ended));
    tasks.push_back(sleeping(runtime, clock, ended));
    DoneSignal signal;
    tasks.push_back([](DoneSignal waited) -> Task<int> {
      co_await waited;
      co_return 7;
    }(signal));
    signal.fire();
    const FirstResult<int> first = co_await when_any(std::move(tasks));
    EXPECT_EQ(first.value, 7);
    co_return first.index;
  };
  EXPECT_EQ(run(body()).value, 2U);
  EXPECT_EQ(ended, 2) << "it returns when the others have ended";

  const auto mixed = [&]() -> Task<std::size_t> {
    const auto result = co_await when_any(sleeping(runtime, clock, ended), failing("broken"));
    co_return result.index();
  };
  EXPECT_EQ(run(mixed()).error, "broken");
  EXPECT_EQ(ended, 3);
  EXPECT_THAT(run(when_any(std::vector<Task<int>>{})).error, HasSubstr("no Task"));
}

// AV-4: a stop of the whole reaches the concurrent Tasks.
TEST_F(TaskTest, PassesAStopOnToTasksThatRunSideBySide) {
  testkit::FakeClock clock;
  std::stop_source stop;
  std::atomic<int> ended = 0;
  const auto sleeping = [](Runtime& on, Clock& by, std::atomic<int>& count) -> Task<void> {
    (void)co_await sleep(on, 1h, by);
    ++count;
  };
  const auto body = [&]() -> Task<void> {
    co_await when_all(sleeping(runtime, clock, ended),
                      [](Task<void> a, Task<void> b) -> Task<void> {
                        (void)co_await when_any(std::move(a), std::move(b));
                      }(sleeping(runtime, clock, ended), sleeping(runtime, clock, ended)));
  };
  const DoneSignal done = spawn(runtime, body(), Delivery::kQueued, stop.get_token());
  ASSERT_TRUE(clock.wait_for_sleepers(3));
  stop.request_stop();
  ASSERT_TRUE(happens(done));
  EXPECT_EQ(ended, 3);
}

// AV-4, LO-8
TEST_F(TaskTest, LogsExceptionsOfSpawnedTasks) {
  ASSERT_TRUE(happens(spawn(runtime, failing("no luck"))));
  EXPECT_THAT(lines.get(), ElementsAre("a spawned task failed: no luck"));
}

// AV-4: on workers it may block; inline it runs on the loop's thread.
TEST_F(TaskTest, RunsWhereItIsDelivered) {
  std::atomic<std::thread::id> loop{};
  Counter told;
  runtime.loop().post([&] {
    loop = std::this_thread::get_id();
    told.add();
  });
  ASSERT_TRUE(told.reaches(1));
  const auto where = [](std::atomic<std::thread::id>& thread) -> Task<void> {
    thread = std::this_thread::get_id();
    co_return;
  };
  std::atomic<std::thread::id> inline_{};
  std::atomic<std::thread::id> queued{};
  ASSERT_TRUE(happens(spawn(runtime, where(inline_), Delivery::kInline)));
  ASSERT_TRUE(happens(spawn(runtime, where(queued))));
  EXPECT_EQ(inline_.load(), loop.load());
  EXPECT_NE(queued.load(), loop.load());
}

/// A coroutine of another library: it starts immediately, on the calling thread.
struct Foreign {
  struct promise_type {
    static Foreign get_return_object() { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() { std::terminate(); }
  };
};

// AV-2: a Task that is started outside any queue gets one.
TEST_F(TaskTest, MayBeAwaitedByForeignCoroutines) {
  testkit::FakeClock clock;
  Counter done;
  std::atomic<int> result = 0;
  const auto sleeping = [](Runtime& on, Clock& by) -> Task<int> {
    co_return (co_await sleep(on, 1s, by)) ? 5 : 6;
  };
  const auto other = [](Task<int> at_once, Task<int> task, std::atomic<int>& value,
                        Counter& ended) -> Foreign {
    const int first = co_await std::move(at_once);
    value = first + co_await std::move(task);
    ended.add();
  };
  other(number(10), sleeping(runtime, clock), result, done);
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(1s);
  ASSERT_TRUE(done.reaches(1));
  EXPECT_EQ(result, 15);
}

// AV-8
TEST_F(TaskTest, MayBeDestroyedOnItsQueueWhileItWaits) {
  testkit::FakeClock clock;
  const auto destroyed = std::make_shared<int>();
  const std::weak_ptr<int> inside = destroyed;
  const auto sleeping = [](Runtime& on, Clock& by, std::shared_ptr<int>) -> Task<int> {
    co_await sleep(on, 1h, by);
    co_return 1;
  };
  // An exception leaves the frame of when_any(): the parent's frame is destroyed, and with it the
  // waiting Task.
  const auto parent = [](Task<int> task) -> Task<int> {
    struct Starter final : detail::TaskCompletion {
      void completed() noexcept override { ADD_FAILURE() << "the Task never ends"; }
    };
    Starter starter;
    const auto queue = std::static_pointer_cast<detail::SerialQueueCore>(
        detail::SerialQueueCore::current()->shared_from_this());
    detail::TaskAccess::start(task, starter, {.queue = queue});
    task = Task<int>{};
    co_return 3;
  };
  EXPECT_EQ(run(parent(sleeping(runtime, clock, destroyed))).value, 3);
  EXPECT_EQ(inside.use_count(), 1);
  EXPECT_EQ(clock.sleepers(), 0U);
}

// AV-8
TEST(TaskDeathTest, EndsTheProgramIfATaskThatWaitsIsDestroyedElsewhere) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Runtime runtime{{.threads = 1}};
        SerialQueue queue{runtime};
        struct Starter final : detail::TaskCompletion {
          void completed() noexcept override {}
        } starter;
        const auto waiting = [](DoneSignal signal) -> Task<void> { co_await signal; };
        Task<void> task = waiting(DoneSignal{});
        Counter began;
        queue.post([&] {
          detail::TaskAccess::start(task, starter, {.queue = detail::Inside::core(queue)});
          began.add();
        });
        (void)began.reaches(1);
        task = Task<void>{};
      },
      "destroyed on another thread.*request a stop");
}

// AV-9
TEST(TaskEnd, ResumesCoroutinesThatWaitWhenTheRuntimeEnds) {
  for (const unsigned threads : {0U, 2U}) {
    testkit::FakeClock clock;
    std::vector<std::string> seen;
    std::vector<DoneSignal> ended;
    {
      Runtime runtime{{.threads = threads, .log = Logger{}}};
      const auto body = [](Runtime& on, Clock& by, std::vector<std::string>& log) -> Task<void> {
        struct Frame {
          std::vector<std::string>& log;
          ~Frame() { log.push_back("destroyed"); }
        } const frame{log};
        if (!co_await sleep(on, 1h, by)) log.push_back("stopped");
        (void)co_await sleep(on, 1h, by);
        log.push_back("never");
      };
      ended.push_back(spawn(runtime, body(runtime, clock, seen)));
      if (threads == 0) {
        while (runtime.loop().run_ready()) {
        }
      }
      ASSERT_TRUE(clock.wait_for_sleepers(1));
    }
    EXPECT_THAT(seen, ElementsAre("stopped", "destroyed"));
    EXPECT_TRUE(ended[0].done());
    EXPECT_EQ(clock.sleepers(), 0U);
  }
}

// AV-9: Tasks that have not started never start; when_all() and moved ones end, too.
TEST(TaskEnd, DestroysRemainingTasksWhenTheRuntimeEnds) {
  testkit::FakeClock clock;
  const auto alive = std::make_shared<int>();
  {
    Runtime runtime{{.threads = 0, .log = Logger{}}};
    SerialQueue queue{runtime};
    const auto sleeping = [](Runtime& on, Clock& by, std::shared_ptr<int>) -> Task<int> {
      co_return (co_await sleep(on, 1h, by)) ? 1 : 0;
    };
    const auto moved = [](SerialQueue& to, Task<int> task) -> Task<int> {
      co_await resume_on(to);
      co_return co_await std::move(task);
    };
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 50; ++i) {
      tasks.push_back(moved(queue, sleeping(runtime, clock, alive)));
      tasks.push_back(sleeping(runtime, clock, alive));
    }
    (void)spawn(runtime, when_all(std::move(tasks)));
    while (runtime.loop().run_ready()) {
    }
    ASSERT_EQ(clock.sleepers(), 100U);
    (void)spawn(runtime, [](std::shared_ptr<int>) -> Task<void> {
      ADD_FAILURE() << "it began";
      co_return;
    }(alive));
  }
  EXPECT_EQ(alive.use_count(), 1);
}

// AV-9, RT-12: a coroutine is the last owner of its Runtime.
TEST_F(TaskTest, MayBeTheLastOwnerOfItsRuntime) {
  for (const Delivery delivery : {Delivery::kQueued, Delivery::kInline}) {
    auto owned = std::make_shared<Runtime>(RuntimeOptions{.threads = 2, .log = Logger{}});
    Runtime& own = *owned;
    DoneSignal go;
    const auto body = [](std::shared_ptr<Runtime> last, DoneSignal signal) -> Task<void> {
      co_await signal;
      last.reset();
    };
    const auto other = [](Runtime& on) -> Task<void> { (void)co_await sleep(on, 1h); };
    const DoneSignal beside = spawn(own, other(own), delivery);
    const DoneSignal done = spawn(own, body(std::move(owned), go), delivery);
    go.fire();
    EXPECT_TRUE(happens(done));
    EXPECT_TRUE(happens(beside));
  }
}

// AV-4: coroutines that wait on a queue that is closed resume as after a stop.
TEST_F(TaskTest, EndsItsWaitsWhenItsQueueIsClosed) {
  SerialQueue queue{runtime};
  Counter waits;
  Outcome<bool> outcome;
  const auto body = [](Counter& count) -> Task<bool> {
    count.add();
    const bool first = co_await DoneSignal{};
    const bool second = co_await DoneSignal{};
    co_return first || second;
  };
  const DoneSignal done = spawn(queue, keep(body(waits), outcome));
  ASSERT_TRUE(waits.reaches(1));
  queue.close(SerialQueue::Close::kDrain);
  EXPECT_TRUE(happens(done));
  EXPECT_TRUE(happens(queue.closed()));
  EXPECT_EQ(outcome.value, false);
}

}  // namespace
}  // namespace kube::test
