// Events of every kind, and the list of a group's members, as a program in C reads them.
#include "bindings/c/tests/c_client.h"

namespace spindle::test {
namespace {

using protocol::GroupViewFrame;

using List = std::vector<std::string>;

/// What `get` fills in.
template <typename Get>
List names_of(Get&& get) {
  std::vector<spindle_bytes> names(get(nullptr, 0));
  EXPECT_EQ(get(names.data(), names.size()), names.size());
  List list;
  for (const spindle_bytes name : names) list.push_back(to_string(name));
  return list;
}

List view_names(const spindle_event* event, unsigned which) {
  return names_of([&](spindle_bytes* names, size_t room) { return spindle_view_names(event, which, names, room); });
}

class CAccessors : public CClient {
 protected:
  CAccessors() { connect(); }
  ~CAccessors() override {
    for (spindle_event* event : events_) spindle_event_free(event);
  }
  /// The event that comes of what `write` writes.
  template <typename Write>
  spindle_event* event_of(Write&& write) {
    Bytes bytes;
    write(bytes);
    daemon_.write(bytes);
    return events_.emplace_back(next());
  }
  spindle_event* view_event(const GroupViewFrame& view) {
    return event_of([&](Bytes& out) { protocol::write_view(out, view); });
  }

  std::vector<spindle_event*> events_;
};

TEST_F(CAccessors, AMessage) {
  const std::string payload("a\0b", 3);
  const spindle_event* event = event_of([&](Bytes& out) {
    append_message_frame(out, {5, 300, "#peer#fake", {"a", "b"}, 3, as_bytes(payload)});
  });
  EXPECT_EQ(spindle_event_kind(event), unsigned{SPINDLE_EVENT_MESSAGE});
  EXPECT_EQ(spindle_message_service(event), unsigned{SPINDLE_SAFE});
  EXPECT_EQ(spindle_message_type(event), 300);
  EXPECT_EQ(to_string(spindle_message_sender(event)), "#peer#fake");
  EXPECT_EQ(to_string(spindle_message_payload(event)), payload);
  const auto groups = [&](spindle_bytes* names, size_t room) { return spindle_message_groups(event, names, room); };
  EXPECT_EQ(names_of(groups), (List{"a", "b"}));
  spindle_bytes first{};
  EXPECT_EQ(groups(&first, 1), 2u);
  EXPECT_EQ(to_string(first), "a");
  EXPECT_EQ(spindle_message_has_position(event), 0);
  EXPECT_EQ(spindle_message_order(event), 0u);
  EXPECT_EQ(spindle_message_coordinator(event).size, 0u);
  EXPECT_EQ(spindle_view_member_count(event), 0u) << "it is no view";
  EXPECT_EQ(spindle_disconnected_text(event).size, 0u);
}

TEST_F(CAccessors, ThePositionOfAMessage) {
  const spindle_event* event = event_of([&](Bytes& out) {
    protocol::write_order_view(out, {7, "fake", 9, 11});
    append_message_frame(out, {4, 0, "#peer#fake", {"a"}, 0, {}, {1000, 3}});
  });
  EXPECT_NE(spindle_message_has_position(event), 0);
  EXPECT_EQ(spindle_message_view_number(event), 7u);
  EXPECT_EQ(to_string(spindle_message_coordinator(event)), "fake");
  EXPECT_EQ(spindle_message_incarnation(event), 9u);
  EXPECT_EQ(spindle_message_changes(event), 11u);
  EXPECT_EQ(spindle_message_order(event), 1000u);
  EXPECT_EQ(spindle_message_index(event), 3u);
}

TEST_F(CAccessors, AView) {
  GroupViewFrame view{"news", {7, "fake", 9, 11}, ViewCause::network, ViewForm::full, 0, 13};
  view.joined = {"#j#d"};
  view.left = {"#l#d"};
  view.apart = {"#a#d"};
  view.members = {"#x#d", "#a#d", "#j#d", "#me#fake"};
  const spindle_event* event = view_event(view);
  EXPECT_EQ(spindle_event_kind(event), unsigned{SPINDLE_EVENT_VIEW});
  EXPECT_EQ(to_string(spindle_view_group(event)), "news");
  EXPECT_EQ(spindle_view_cause(event), unsigned{SPINDLE_CAUSE_NETWORK});
  EXPECT_EQ(spindle_view_form(event), unsigned{SPINDLE_FORM_FULL});
  EXPECT_EQ(spindle_view_member_count(event), 4u);
  EXPECT_EQ(spindle_view_digest(event), 13u);
  EXPECT_EQ(spindle_view_number(event), 7u);
  EXPECT_EQ(to_string(spindle_view_coordinator(event)), "fake");
  EXPECT_EQ(spindle_view_incarnation(event), 9u);
  EXPECT_EQ(spindle_view_position(event), 11u);
  EXPECT_EQ(spindle_view_my_index(event), 3u);
  EXPECT_EQ(view_names(event, SPINDLE_NAMES_MEMBERS), (List{"#x#d", "#a#d", "#j#d", "#me#fake"}));
  EXPECT_EQ(view_names(event, SPINDLE_NAMES_JOINED), List{"#j#d"});
  EXPECT_EQ(view_names(event, SPINDLE_NAMES_LEFT), List{"#l#d"});
  EXPECT_EQ(view_names(event, SPINDLE_NAMES_APART), List{"#a#d"});
  EXPECT_EQ(view_names(event, SPINDLE_NAMES_VS_SET), (List{"#x#d", "#me#fake"}));
  EXPECT_EQ(view_names(event, 99), List{});
  view.form = ViewForm::change;
  view.member_count = 1000;
  const spindle_event* change = view_event(view);
  EXPECT_EQ(spindle_view_form(change), unsigned{SPINDLE_FORM_CHANGE});
  EXPECT_EQ(spindle_view_my_index(change), SIZE_MAX);
}

TEST_F(CAccessors, ASignal) {
  const spindle_event* event = event_of([](Bytes& out) { protocol::write_transitional(out, "news"); });
  EXPECT_EQ(spindle_event_kind(event), unsigned{SPINDLE_EVENT_TRANSITIONAL});
  EXPECT_EQ(to_string(spindle_transitional_group(event)), "news");
}

TEST_F(CAccessors, ARefusal) {
  const spindle_event* event = event_of([](Bytes& out) {
    protocol::write_refused(out, {protocol::Refused::What::messages, SPINDLE_ACCESS_DENIED, 3, "orders"});
  });
  EXPECT_EQ(spindle_event_kind(event), unsigned{SPINDLE_EVENT_REQUEST_FAILED});
  EXPECT_EQ(spindle_failed_request(event), unsigned{SPINDLE_REQUEST_SEND});
  EXPECT_EQ(to_string(spindle_failed_group(event)), "orders");
  EXPECT_EQ(spindle_failed_code(event), SPINDLE_ACCESS_DENIED);
  EXPECT_EQ(spindle_failed_messages(event), 3u);
}

TEST_F(CAccessors, HowAFlowFares) {
  const spindle_bytes groups[] = {spindle_text("a"), spindle_text("b")};
  ASSERT_EQ(spindle_request_flow(connection_, groups, 2), SPINDLE_OK);
  daemon_.read();
  const auto request = protocol::read_flow_request(daemon_.read().body);
  ASSERT_TRUE(request);
  const spindle_event* event = event_of([&](Bytes& out) {
    protocol::write_flow_report(out, {request->request, 3250, -500, 50'000, 87'500, 250, "link a-b"});
  });
  EXPECT_EQ(spindle_event_kind(event), unsigned{SPINDLE_EVENT_FLOW_STATE});
  EXPECT_EQ(names_of([&](spindle_bytes* names, size_t room) { return spindle_flow_groups(event, names, room); }),
            (List{"a", "b"}));
  EXPECT_EQ(spindle_flow_price(event), 3.25);
  EXPECT_EQ(spindle_flow_budget(event), -0.5);
  EXPECT_EQ(spindle_flow_rate(event), 87.5);
  EXPECT_EQ(spindle_flow_salary_period_us(event), 50'000);
  EXPECT_EQ(spindle_flow_blocked_share(event), 0.25);
  EXPECT_EQ(to_string(spindle_flow_limited_by(event)), "link a-b");
}

TEST_F(CAccessors, AGapAndAWarning) {
  const spindle_event* gap = event_of([](Bytes& out) { protocol::write_gap(out, {5, 600, {{"a", 4}, {"b", 2}}, 1}); });
  EXPECT_EQ(spindle_event_kind(gap), unsigned{SPINDLE_EVENT_GAP});
  EXPECT_EQ(spindle_gap_messages(gap), 5u);
  EXPECT_EQ(spindle_gap_bytes(gap), 600u);
  EXPECT_EQ(spindle_gap_unlisted(gap), 1u);
  spindle_bytes names[2];
  uint64_t messages[2];
  EXPECT_EQ(spindle_gap_names(gap, nullptr, nullptr, 0), 2u);
  EXPECT_EQ(spindle_gap_names(gap, names, messages, 2), 2u);
  EXPECT_EQ(to_string(names[1]), "b");
  EXPECT_EQ(messages[0], 4u);
  const spindle_event* warning = event_of([](Bytes& out) { protocol::write_warning(out, {80, 8000, 10'000}); });
  EXPECT_EQ(spindle_event_kind(warning), unsigned{SPINDLE_EVENT_QUEUE_WARNING});
  EXPECT_EQ(spindle_warning_percent(warning), 80u);
  EXPECT_EQ(spindle_warning_bytes(warning), 8000u);
  EXPECT_EQ(spindle_warning_limit(warning), 10'000u);
}

TEST_F(CAccessors, TheEnd) {
  const spindle_bytes group = spindle_text("g");
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, {}, nullptr, 0), SPINDLE_OK);
  }
  daemon_.read_messages(5);
  const spindle_event* event = event_of([](Bytes& out) {
    protocol::write_close(out, {SPINDLE_DAEMON_STOPPING, "enough", 3});
  });
  EXPECT_EQ(spindle_event_kind(event), unsigned{SPINDLE_EVENT_DISCONNECTED});
  EXPECT_EQ(spindle_disconnected_code(event), SPINDLE_DAEMON_STOPPING);
  EXPECT_EQ(to_string(spindle_disconnected_text(event)), "enough");
  EXPECT_EQ(spindle_disconnected_not_taken(event), 2u);
  EXPECT_EQ(spindle_disconnected_is_exact(event), 1);
}

TEST(CAccessorsOfNothing, GiveNothing) {
  EXPECT_EQ(spindle_event_kind(nullptr), 0u);
  EXPECT_EQ(spindle_message_payload(nullptr).size, 0u);
  EXPECT_EQ(spindle_view_my_index(nullptr), SIZE_MAX);
  EXPECT_EQ(spindle_gap_names(nullptr, nullptr, nullptr, 0), 0u);
  spindle_event_free(nullptr);
}

TEST_F(CAccessors, TheMembersOfALargeGroup) {
  spindle_membership* membership = spindle_membership_new();
  const auto members = [&] {
    return names_of(
        [&](spindle_bytes* names, size_t room) { return spindle_membership_members(membership, names, room); });
  };
  EXPECT_EQ(spindle_membership_is_current(membership), 0);
  GroupViewFrame change{"news", {1, "fake", 1, 2}, ViewCause::join, ViewForm::change, 2, 5};
  change.joined = {"#b#d"};
  EXPECT_EQ(spindle_membership_apply(membership, view_event(change)), unsigned{SPINDLE_MEMBERSHIP_ASK});
  EXPECT_EQ(members(), List{});
  spindle_membership_reset(membership);
  EXPECT_EQ(spindle_membership_apply(membership, nullptr), unsigned{SPINDLE_MEMBERSHIP_UNKNOWN});
  EXPECT_EQ(spindle_membership_vs_set(membership, nullptr, 0), 0u);
  EXPECT_EQ(spindle_membership_index_of(membership, spindle_text("#b#d")), SIZE_MAX);
  EXPECT_EQ(spindle_membership_index_of(nullptr, spindle_text("#b#d")), SIZE_MAX);
  spindle_membership_free(membership);
  spindle_membership_free(nullptr);
}

}  // namespace
}  // namespace spindle::test
