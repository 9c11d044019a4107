#include "regroup/rml/loss_book.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "regroup/core/error.h"

namespace regroup {
namespace {

using Samples = std::vector<std::uint32_t>;
using Losses = std::vector<float>;

Losses losses_of(const LossBook& book) { return {book.losses().begin(), book.losses().end()}; }

TEST(LossBook, KeepsTheLastLossOfASampleThatHadNoTurn) {
  LossBook book(3);
  EXPECT_EQ(losses_of(book), Losses(3, LossBook::unrecorded));
  book.record(Samples{0, 2}, Losses{0.5F, 1.5F});
  book.begin_epoch();
  book.record(Samples{2}, Losses{2.5F});
  EXPECT_EQ(losses_of(book), (Losses{0.5F, LossBook::unrecorded, 2.5F}));
  EXPECT_FALSE(book.recorded_this_epoch(0));
  EXPECT_TRUE(book.recorded_this_epoch(2));
}

TEST(LossBook, NamesTheSampleWhoseLossIsNotFinite) {
  LossBook book(5);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -0.1F}) {
    try {
      book.record(Samples{1, 4}, Losses{1, bad});
      FAIL() << bad;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("sample 4"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(losses_of(book)[4], LossBook::unrecorded);
}

TEST(LossBook, RefusesSamplesThatItDoesNotHave) {
  LossBook book(2);
  EXPECT_THROW(book.record(Samples{2}, Losses{1}), std::out_of_range);
  EXPECT_THROW(book.record(Samples{0, 1}, Losses{1}), std::invalid_argument);
}

TEST(LossBook, MergesWhatAnotherShardRecordedInThisEpoch) {
  LossBook mine(4), other(4);
  for (LossBook* book : {&mine, &other}) book->record(Samples{0, 1, 2, 3}, Losses{1, 1, 1, 1});
  mine.begin_epoch();
  other.begin_epoch();
  mine.record(Samples{0}, Losses{2});
  other.record(Samples{3}, Losses{5});
  mine.merge(other);
  EXPECT_EQ(losses_of(mine), (Losses{2, 1, 1, 5}));
  EXPECT_TRUE(mine.recorded_this_epoch(3));
  EXPECT_FALSE(mine.recorded_this_epoch(1));
  EXPECT_THROW(mine.merge(LossBook(3)), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
