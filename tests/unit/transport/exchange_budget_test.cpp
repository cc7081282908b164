// SPDX-License-Identifier: Apache-2.0
#include "../../../src/transport/exchange.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kube::detail {
namespace {

constexpr std::size_t kBuffer = 1000;

/// Runs the reader's side and the loop's side in one thread.
struct ExchangeBudget : testing::Test {
  std::shared_ptr<Exchange> exchange() {
    const auto made = std::make_shared<Exchange>(HttpRequest{}, nullptr, mailbox, kBuffer,
                                                 system_clock(), budget);
    made->on_head({.status = 200});
    return made;
  }
  void receive(Exchange& to, std::size_t count) { to.on_bytes(std::string(count, 'x')); }
  [[nodiscard]] bool is_posted(const std::shared_ptr<Exchange>& wanted) {
    bool found = false;
    for (std::size_t count = mailbox->posted_count(); count > 0; --count) {
      found |= mailbox->next() == wanted;
    }
    return found;
  }

  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  std::shared_ptr<ByteBudget> budget = std::make_shared<ByteBudget>(2000);
  std::string bytes;
};

TEST_F(ExchangeBudget, CountsBytesUntilTheReaderComesBackForMore) {
  auto one = exchange();
  receive(*one, 300);
  EXPECT_EQ(budget->used(), 300U);
  one->take(bytes);
  receive(*one, 200);
  EXPECT_EQ(budget->used(), 500U);
  one->take(bytes);
  EXPECT_EQ(bytes.size(), 200U);
  EXPECT_EQ(budget->used(), 200U);
  static_cast<void>(is_posted(one));  // drops the loop's reference as well
  one.reset();
  EXPECT_EQ(budget->used(), 0U);
}

TEST_F(ExchangeBudget, OpensTheWindowOnlyForAReaderThatHoldsNothingWhileItIsExhausted) {
  const auto one = exchange();
  budget->add(5000);
  receive(*one, 700);
  one->take(bytes);
  EXPECT_FALSE(is_posted(one));  // the reader has half of the window, but still holds it
  EXPECT_EQ(budget->refusals(), 1U);

  receive(*one, 100);
  one->take(bytes);
  EXPECT_FALSE(is_posted(one));  // it has more to read

  one->on_end();
  one->take(bytes);
  EXPECT_TRUE(bytes.empty());
  EXPECT_TRUE(is_posted(one));
  EXPECT_EQ(one->take_credit(), 800U);
}

TEST_F(ExchangeBudget, OpensTheWindowAgainAfterwards) {
  const auto one = exchange();
  budget->add(5000);
  receive(*one, 700);
  one->take(bytes);
  EXPECT_FALSE(is_posted(one));
  budget->remove(5000);
  receive(*one, 100);
  one->take(bytes);
  EXPECT_TRUE(is_posted(one));
}

TEST_F(ExchangeBudget, KeepsTheLoopFromReadingBehindUnreadBytes) {
  const auto one = exchange();
  EXPECT_FALSE(one->full());
  budget->add(5000);
  EXPECT_FALSE(one->full());  // it holds nothing
  receive(*one, 10);
  EXPECT_TRUE(one->full());
  one->take(bytes);
  EXPECT_FALSE(one->full());
  EXPECT_FALSE(is_posted(one));

  one->on_end();
  one->take(bytes);  // notifies the loop, which may sleep, that there is room
  EXPECT_TRUE(is_posted(one));
}

}  // namespace
}  // namespace kube::detail
