// What the header promises beside what functions do: numbers, names, and that nothing is missing anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "bindings/c/src/handles.h"
#include "bindings/c/tests/c99.h"

namespace spindle::c {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(SPINDLE_C_FOLDER) + "/" + name);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

const std::string& header() {
  static const std::string text = read("include/spindle/spindle.h");
  return text;
}

TEST(CInterface, HasTheCodesOfTheTable) {
  std::size_t count = 0;
#define CHECK_CODE(name, number, text)                                                                   \
  {                                                                                                      \
    std::string constant = #name;                                                                        \
    std::transform(constant.begin(), constant.end(), constant.begin(), ::toupper);                       \
    EXPECT_THAT(header(), testing::ContainsRegex("SPINDLE_ERROR_" + constant + " = " #number "[^0-9]")); \
    EXPECT_STREQ(spindle_error_name(number), #name);                                                     \
    EXPECT_STREQ(spindle_error_text(number), text);                                                      \
    ++count;                                                                                             \
  }
  SPINDLE_ERRORS(CHECK_CODE)
#undef CHECK_CODE
  EXPECT_EQ(matches(header(), "(SPINDLE_ERROR_[A-Z_]+) = ").size(), count);
}

TEST(CInterface, NamesCodesThatAreNotInTheTable) {
  EXPECT_STREQ(spindle_error_name(0), "success");
  EXPECT_STREQ(spindle_error_text(0), "success");
  for (const spindle_code code : {-1, 9'999, 65'536 + 1, INT32_MIN, INT32_MAX}) {
    EXPECT_STREQ(spindle_error_name(code), "unknown_error") << code;
    EXPECT_STREQ(spindle_error_text(code), "an unknown error occurred") << code;
  }
}

TEST(CInterface, HasTheNumbersOfTheLibrary) {
  EXPECT_EQ(SPINDLE_UNRELIABLE, static_cast<int>(Service::unreliable));
  EXPECT_EQ(SPINDLE_RELIABLE, static_cast<int>(Service::reliable));
  EXPECT_EQ(SPINDLE_FIFO, static_cast<int>(Service::fifo));
  EXPECT_EQ(SPINDLE_CAUSAL, static_cast<int>(Service::causal));
  EXPECT_EQ(SPINDLE_AGREED, static_cast<int>(Service::agreed));
  EXPECT_EQ(SPINDLE_SAFE, static_cast<int>(Service::safe));
  EXPECT_EQ(SPINDLE_SLOW_DAEMON_DEFAULT, static_cast<int>(SlowPolicy::daemon_default));
  EXPECT_EQ(SPINDLE_SLOW_PRICE, static_cast<int>(SlowPolicy::price));
  EXPECT_EQ(SPINDLE_SLOW_DROP, static_cast<int>(SlowPolicy::drop));
  EXPECT_EQ(SPINDLE_SLOW_DISCONNECT, static_cast<int>(SlowPolicy::disconnect));
  EXPECT_EQ(SPINDLE_CAUSE_JOIN, static_cast<int>(ViewCause::join));
  EXPECT_EQ(SPINDLE_CAUSE_LEAVE, static_cast<int>(ViewCause::leave));
  EXPECT_EQ(SPINDLE_CAUSE_DISCONNECT, static_cast<int>(ViewCause::disconnect));
  EXPECT_EQ(SPINDLE_CAUSE_NETWORK, static_cast<int>(ViewCause::network));
  EXPECT_EQ(SPINDLE_FORM_FULL, static_cast<int>(ViewForm::full));
  EXPECT_EQ(SPINDLE_FORM_CHANGE, static_cast<int>(ViewForm::change));
  EXPECT_EQ(SPINDLE_FORM_ANSWER, static_cast<int>(ViewForm::answer));
  EXPECT_EQ(SPINDLE_FORM_FAREWELL, static_cast<int>(ViewForm::farewell));
  using Request = RequestFailed::Request;
  EXPECT_EQ(SPINDLE_REQUEST_JOIN, static_cast<int>(Request::join));
  EXPECT_EQ(SPINDLE_REQUEST_LEAVE, static_cast<int>(Request::leave));
  EXPECT_EQ(SPINDLE_REQUEST_VIEW, static_cast<int>(Request::view));
  EXPECT_EQ(SPINDLE_REQUEST_SEND, static_cast<int>(Request::send));
  EXPECT_EQ(SPINDLE_REQUEST_MEMBERSHIP, static_cast<int>(Request::membership));
  EXPECT_EQ(SPINDLE_REQUEST_LISTEN, static_cast<int>(Request::listen));
  using Outcome = Membership::Outcome;
  EXPECT_EQ(SPINDLE_MEMBERS_CURRENT, static_cast<int>(Outcome::current));
  EXPECT_EQ(SPINDLE_MEMBERS_ASK, static_cast<int>(Outcome::ask));
  EXPECT_EQ(SPINDLE_MEMBERS_UNKNOWN, static_cast<int>(Outcome::unknown));
  EXPECT_EQ(SPINDLE_MEMBERS_LEFT, static_cast<int>(Outcome::left));
  EXPECT_EQ(SPINDLE_CONTENT_BYTES, static_cast<int>(ContentKind::bytes));
  EXPECT_EQ(SPINDLE_CONTENT_FILE, static_cast<int>(ContentKind::file));
  EXPECT_EQ(SPINDLE_CONTENT_DIRECTORY, static_cast<int>(ContentKind::directory));
  using Cause = BulkEnded::Cause;
  EXPECT_EQ(SPINDLE_BULK_CANCELLED, static_cast<int>(Cause::cancelled));
  EXPECT_EQ(SPINDLE_BULK_OVER, static_cast<int>(Cause::over));
  EXPECT_EQ(SPINDLE_BULK_ABANDONED, static_cast<int>(Cause::abandoned));
  EXPECT_EQ(SPINDLE_BULK_ELSEWHERE, static_cast<int>(Cause::elsewhere));
  EXPECT_EQ(SPINDLE_BULK_DISCONNECTED, static_cast<int>(Cause::disconnected));
  EXPECT_EQ(SPINDLE_BULK_LEFT, static_cast<int>(Cause::left));
  EXPECT_EQ(SPINDLE_FEED_ORDERED, static_cast<int>(ListenOptions::Delivery::ordered));
  EXPECT_EQ(SPINDLE_FEED_IMMEDIATE, static_cast<int>(ListenOptions::Delivery::immediate));
  EXPECT_EQ(SPINDLE_FEED_LOST, static_cast<int>(FeedGap::Cause::lost));
  EXPECT_EQ(SPINDLE_FEED_SLOW, static_cast<int>(FeedGap::Cause::slow));
  EXPECT_EQ(SPINDLE_FEED_CLOSED_BY_SOURCE, static_cast<int>(FeedClosed::Why::closed));
  EXPECT_EQ(SPINDLE_FEED_CLOSED_LOST, static_cast<int>(FeedClosed::Why::lost));
  EXPECT_EQ(SPINDLE_FEED_CLOSED_DENIED, static_cast<int>(FeedClosed::Why::denied));
  EXPECT_EQ(SPINDLE_FEED_CLOSED_LEFT, static_cast<int>(FeedClosed::Why::left));
  EXPECT_EQ(SPINDLE_FEED_LIMIT_START, static_cast<int>(FeedLimit::start));
  EXPECT_EQ(SPINDLE_FEED_LIMIT_LINK, static_cast<int>(FeedLimit::link));
  EXPECT_EQ(SPINDLE_FEED_LIMIT_SOURCE, static_cast<int>(FeedLimit::source));
  EXPECT_EQ(SPINDLE_FEED_LIMIT_MAXIMUM, static_cast<int>(FeedLimit::maximum));
  EXPECT_EQ(SPINDLE_FEED_LIMIT_SHARE, static_cast<int>(FeedLimit::share));
}

TEST(CInterface, HasEveryKindOfEvents) {
  std::set<unsigned> kinds;
  std::size_t count = 0;
#define CHECK_EVENT(type, name)                         \
  {                                                     \
    const spindle_event event{Event(type())};           \
    EXPECT_NE(spindle_event_kind(&event), 0u) << #type; \
    kinds.insert(spindle_event_kind(&event));           \
    ++count;                                            \
  }
  SPINDLE_EVENTS(CHECK_EVENT)
#undef CHECK_EVENT
  EXPECT_EQ(kinds.size(), count);
}

TEST(CInterface, IsExportedWhole) {
  const auto declared = matches(header(), "SPINDLE_C_API [^;]*?(spindle_[a-z_]+)\\(");
  EXPECT_GT(declared.size(), 80u);
  EXPECT_EQ(matches(read("spindle_c.exports"), "\n    (spindle_[a-z_]+);"), declared);
}

TEST(CInterface, IsCalledWholeByItsTests) {
  const std::string tests = read("tests/c99.c");
  for (const std::string& function : matches(header(), "SPINDLE_C_API [^;]*?(spindle_[a-z_]+)\\([^)]*\\*")) {
    EXPECT_THAT(tests, testing::HasSubstr(function + "("));
  }
}

TEST(CInterface, TellsItsVersion) {
  EXPECT_STREQ(spindle_version(), SPINDLE_PROJECT_VERSION);
  EXPECT_EQ(std::to_string(SPINDLE_VERSION_MAJOR) + "." + std::to_string(SPINDLE_VERSION_MINOR) + "." +
                std::to_string(SPINDLE_VERSION_PATCH),
            SPINDLE_PROJECT_VERSION);
}

TEST(CInterface, BearsNullHandles) { EXPECT_EQ(misuse_nulls(), 0); }

TEST(CInterface, TakesTextAsBytes) {
  EXPECT_EQ(spindle_text("news").size, 4u);
  EXPECT_EQ(spindle_text(nullptr).size, 0u);
}

}  // namespace
}  // namespace spindle::c
