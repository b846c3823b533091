#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "libclient/protocol/client_engine.h"
#include "tests/support/payload_frames.h"

namespace spindle {
namespace {

/// Of #a#d to "g", as it comes from a daemon.
Event message_event(std::string_view text) {
  protocol::EventReader reader;
  std::vector<std::uint8_t> bytes;
  protocol::write_welcome(bytes, {protocol::kClientVersionMax, "#me#d"});
  protocol::MessageHead head;
  head.sender = "#a#d";
  head.groups = {"g"};
  head.total = static_cast<std::uint32_t>(text.size());
  head.chunk = as_bytes(text);
  test::append_payload_frame(bytes, head, protocol::message_head_size(head), protocol::write_message_head);
  std::copy(bytes.begin(), bytes.end(), reader.prepare().begin());
  reader.commit(bytes.size());
  std::vector<Event> events;
  reader.take_events(events);
  return events.at(0);
}

GroupView view_of(std::string group) {
  GroupView view;
  view.group = std::move(group);
  view.members = {"#a#d", "#b#d"};
  return view;
}

TEST(ClientEvent, IsSmall) { EXPECT_LE(sizeof(Event), 64u); }

TEST(ClientEvent, IsAnEmptyMessageWhereNothingIsSaid) {
  const Event event;
  EXPECT_EQ(event.kind(), EventKind::message);
  EXPECT_EQ(event.get<Message>().text(), "");
}

TEST(ClientEvent, HoldsWhateverThereIs) {
  const std::vector<Event> events{Message(),   view_of("g"), Transitional{"g"}, RequestFailed(), FlowReady(),
                                  FlowState(), Gap(),        QueueWarning(),    Disconnected()};
  std::vector<std::string_view> kinds;
  for (const Event& event : events) kinds.push_back(to_string(event.kind()));
  EXPECT_EQ(kinds, (std::vector<std::string_view>{"message", "group_view", "transitional", "request_failed",
                                                  "flow_ready", "flow_state", "gap", "queue_warning", "disconnected"}));
}

TEST(ClientEvent, GivesWhatItIsAndNothingElse) {
  Event event = view_of("g");
  EXPECT_TRUE(event.is<GroupView>());
  EXPECT_FALSE(event.is<Message>());
  EXPECT_EQ(event.get_if<Message>(), nullptr);
  EXPECT_EQ(event.get_if<Transitional>(), nullptr);
  ASSERT_NE(event.get_if<GroupView>(), nullptr);
  event.get_if<GroupView>()->group = "h";
  EXPECT_EQ(std::as_const(event).get<GroupView>().group, "h");
  EXPECT_THROW(event.get<Message>(), std::logic_error);
  EXPECT_EQ(std::move(event).get<GroupView>().group, "h");
}

TEST(ClientEvent, IsCopied) {
  const Event message = message_event("text");
  const Event view = view_of("g");
  Event copy = message;
  EXPECT_EQ(copy.get<Message>().text(), "text");
  copy = view;
  EXPECT_EQ(copy.get<GroupView>().members.size(), 2u);
  EXPECT_NE(copy.get_if<GroupView>(), view.get_if<GroupView>());
  copy = message;
  EXPECT_EQ(copy.get<Message>().text(), "text");
  copy = *&copy;
  EXPECT_EQ(copy.get<Message>().text(), "text");
  EXPECT_EQ(message.get<Message>().text(), "text");
}

TEST(ClientEvent, IsMovedAndLeavesAnEmptyMessage) {
  Event message = message_event("text");
  Event view = view_of("g");
  const GroupView* const content = view.get_if<GroupView>();
  Event moved = std::move(view);
  EXPECT_EQ(moved.get_if<GroupView>(), content) << "nothing is copied";
  EXPECT_EQ(view.get<Message>().text(), "");  // NOLINT: what is left is what this is about
  moved = std::move(message);
  EXPECT_EQ(moved.get<Message>().text(), "text");
  view = std::move(moved);
  EXPECT_EQ(view.get<Message>().text(), "text");
  view = Transitional{"g"};
  view = Transitional{"h"};
  EXPECT_EQ(view.get<Transitional>().group, "h");
  Event& itself = view;
  view = std::move(itself);
  EXPECT_EQ(view.get<Transitional>().group, "h");
}

TEST(ClientEvent, CallsTheHandlerOfWhatItIs) {
  const auto name = [](const Event& event) {
    return event.visit([](const Message& message) { return "message " + std::string(message.text()); },
                       [](const GroupView& view) { return "view of " + view.group; },
                       [](const auto&) { return std::string("something else"); });
  };
  EXPECT_EQ(name(message_event("text")), "message text");
  EXPECT_EQ(name(view_of("g")), "view of g");
  EXPECT_EQ(name(Gap()), "something else");
}

TEST(ClientEvent, LetsAHandlerChangeIt) {
  Event event = view_of("g");
  event.visit([](GroupView& view) { view.group = "h"; }, [](auto&) {});
  EXPECT_EQ(event.get<GroupView>().group, "h");
}

}  // namespace
}  // namespace spindle
