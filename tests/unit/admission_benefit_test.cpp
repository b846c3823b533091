#include "daemon/admission/benefit.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "daemon/admission/balance.h"

namespace spindled {
namespace {

constexpr double kThreshold = 2;
constexpr BenefitKind kAll[] = {BenefitKind::sending, BenefitKind::receiving, BenefitKind::fair};

Quote quote_of(std::initializer_list<double> links, std::size_t receivers = 1, double clients = 0) {
  Quote quote;
  quote.receivers = receivers;
  quote.clients.dollars = clients;
  quote.add(clients);
  for (const double dollars : links) {
    quote.link.dollars = std::max(quote.link.dollars, dollars);
    quote.add(dollars);
  }
  return quote;
}

/// What a flow sends in balance whose packets meet these prices.
double rate(BenefitKind benefit, const Quote& quote) {
  return rate_of_balance(kThreshold, quote.congestion / worth_of(benefit, quote));
}

TEST(Benefit, OfOnePartThatCostsSomethingAllPayItsPrice) {
  for (const BenefitKind benefit : kAll) {
    for (const double dollars : {0.01, 1.0, 1e6}) {
      EXPECT_DOUBLE_EQ(worth_of(benefit, quote_of({dollars})), 1);
      EXPECT_DOUBLE_EQ(worth_of(benefit, quote_of({}, 1, dollars)), 1) << "of a client";
    }
  }
}

TEST(Benefit, SendingPaysTheSum) {
  EXPECT_EQ(worth_of(BenefitKind::sending, quote_of({3, 4, 5}, 500, 7)), 1);
  EXPECT_NEAR(rate(BenefitKind::sending, quote_of({8})) / rate(BenefitKind::sending, quote_of({8, 8, 8, 8, 8})), 125,
              1e-9);
}

TEST(Benefit, ReceivingGrowsWithTheReceiversAlone) {
  EXPECT_EQ(worth_of(BenefitKind::receiving, quote_of({3, 4}, 1)), 1);
  EXPECT_EQ(worth_of(BenefitKind::receiving, quote_of({3}, 40)), 40);
  EXPECT_EQ(worth_of(BenefitKind::receiving, quote_of({3, 4}, 40)), 40);
  EXPECT_EQ(worth_of(BenefitKind::receiving, quote_of({3}, 0)), 1) << "a price is divided by it";
}

TEST(Benefit, WithFairTheInversesOfRatesAddUp) {
  const auto alone = [](double dollars) { return rate(BenefitKind::fair, quote_of({dollars})); };
  EXPECT_NEAR(rate(BenefitKind::fair, quote_of({8, 8, 8, 8, 8})), alone(8) / 5, 1e-6 * alone(8));
  const double sum = 1 / alone(3) + 1 / alone(30) + 1 / alone(9);
  EXPECT_NEAR(rate(BenefitKind::fair, quote_of({3, 30}, 7, 9)), 1 / sum, 1e-6 / sum);
}

TEST(Benefit, IsThatOfAGroupThatIsListed) {
  AdmissionConfig config;
  config.benefit = BenefitKind::receiving;
  config.groups_of(BenefitKind::fair) = {"prices", "alarm.*"};
  config.groups_of(BenefitKind::sending) = {"bulk.*"};
  const auto of = [&](std::vector<std::string> names) { return benefit_of(config, names); };
  EXPECT_EQ(of({"news"}), BenefitKind::receiving);
  EXPECT_EQ(of({"prices"}), BenefitKind::fair);
  EXPECT_EQ(of({"prices2"}), BenefitKind::receiving) << "a whole name";
  EXPECT_EQ(of({"alarm.fire"}), BenefitKind::fair);
  EXPECT_EQ(of({"alarm"}), BenefitKind::receiving);
  EXPECT_EQ(of({"news", "bulk.1"}), BenefitKind::sending);
  EXPECT_EQ(of({"bulk.1", "prices"}), BenefitKind::fair);
  config.groups_of(BenefitKind::sending) = {"*"};
  EXPECT_EQ(of({"news"}), BenefitKind::sending);
}

}  // namespace
}  // namespace spindled
