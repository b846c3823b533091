// Every field of every kind of event, and that those of other kinds are nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "bindings/c/src/handles.h"
#include "libclient/protocol/member_list.h"

namespace spindle::c {
namespace {

using Names = std::vector<std::string>;

std::string text(spindle_bytes bytes) { return std::string(text_of(bytes)); }

Names groups(const spindle_event& event) {
  Names names;
  for (std::size_t i = 0; i < spindle_event_group_count(&event); ++i) {
    names.push_back(text(spindle_event_group_at(&event, i)));
  }
  EXPECT_EQ(spindle_event_group_at(&event, names.size()).data, nullptr);
  EXPECT_EQ(text(spindle_event_group(&event)), names.empty() ? "" : names.front());
  return names;
}

Names list(const spindle_event& event, unsigned which) {
  Names names;
  for (std::size_t i = 0; i < spindle_view_name_count(&event, which); ++i) {
    names.push_back(text(spindle_view_name_at(&event, which, i)));
  }
  EXPECT_EQ(spindle_view_name_at(&event, which, names.size()).data, nullptr);
  return names;
}

GroupView view() {
  GroupView view;
  view.group = "news";
  view.id = {7, "ann", 8, 9};
  view.cause = ViewCause::network;
  view.form = ViewForm::full;
  view.member_count = 3;
  view.digest = 0xfedcba9876543210;
  view.joined = {"#j#a"};
  view.left = {"#l#a", "#l#b"};
  view.apart = {"#p#a"};
  view.members = {"#j#a", "#me#a", "#p#a"};
  view.vs_set = {"#me#a"};
  view.my_index = 1;
  return view;
}

TEST(CEvents, ViewsHaveTheirFields) {
  const spindle_event event{Event(view())};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_GROUP_VIEW});
  EXPECT_EQ(groups(event), Names{"news"});
  EXPECT_EQ(spindle_view_cause(&event), unsigned{SPINDLE_CAUSE_NETWORK});
  EXPECT_EQ(spindle_view_form(&event), unsigned{SPINDLE_FORM_FULL});
  EXPECT_EQ(spindle_view_member_count(&event), 3u);
  EXPECT_EQ(spindle_view_digest(&event), 0xfedcba9876543210);
  EXPECT_EQ(list(event, SPINDLE_VIEW_MEMBERS), view().members);
  EXPECT_EQ(list(event, SPINDLE_VIEW_JOINED), view().joined);
  EXPECT_EQ(list(event, SPINDLE_VIEW_LEFT), view().left);
  EXPECT_EQ(list(event, SPINDLE_VIEW_APART), view().apart);
  EXPECT_EQ(list(event, SPINDLE_VIEW_VS_SET), view().vs_set);
  EXPECT_EQ(list(event, 99), Names());
  EXPECT_EQ(spindle_view_my_index(&event), 1);
  EXPECT_EQ(spindle_view_id_number(&event), 7u);
  EXPECT_EQ(text(spindle_view_id_coordinator(&event)), "ann");
  EXPECT_EQ(spindle_view_id_incarnation(&event), 8u);
  EXPECT_EQ(spindle_view_id_position(&event), 9u);
}

TEST(CEvents, AViewWithoutMembersHasNoPlaceAmongThem) {
  GroupView farewell;
  farewell.form = ViewForm::farewell;
  const spindle_event event{Event(farewell)};
  EXPECT_EQ(spindle_view_my_index(&event), -1);
  EXPECT_EQ(spindle_view_form(&event), unsigned{SPINDLE_FORM_FAREWELL});
}

TEST(CEvents, TransitionalSignalsAreOfAGroup) {
  const spindle_event event{Event(Transitional{"news"})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_TRANSITIONAL});
  EXPECT_EQ(groups(event), Names{"news"});
}

TEST(CEvents, RequestsToFlushAreOfAGroup) {
  const spindle_event event{Event(FlushRequest{"news"})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_FLUSH_REQUEST});
  EXPECT_EQ(groups(event), Names{"news"});
  GroupView synchronous = view();
  synchronous.synchronous = true;
  const spindle_event next{Event(synchronous)}, other{Event(view())};
  EXPECT_EQ(spindle_view_is_synchronous(&next), 1);
  EXPECT_EQ(spindle_view_is_synchronous(&other), 0);
}

TEST(CEvents, ReconnectionsNameWhatIsUnknown) {
  const spindle_event event{Event(Reconnected{false, "#ann#a", "#ann#b", {7, 9}, true})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_RECONNECTED});
  EXPECT_EQ(spindle_reconnected_is_resumed(&event), 0);
  EXPECT_EQ(text(spindle_reconnected_former_name(&event)), "#ann#a");
  EXPECT_EQ(text(spindle_reconnected_private_name(&event)), "#ann#b");
  EXPECT_EQ(spindle_reconnected_is_fenced(&event), 1);
  ASSERT_EQ(spindle_reconnected_unknown_count(&event), 2u);
  EXPECT_EQ(spindle_reconnected_unknown_at(&event, 0), 7u);
  EXPECT_EQ(spindle_reconnected_unknown_at(&event, 1), 9u);
  EXPECT_EQ(spindle_reconnected_unknown_at(&event, 2), 0u);
  const spindle_event resumed{Event(Reconnected{true, "#ann#a", "#ann#a", {}, false})};
  EXPECT_EQ(spindle_reconnected_is_resumed(&resumed), 1);
  EXPECT_EQ(spindle_reconnected_is_fenced(&resumed), 0);
}

TEST(CEvents, RefusalsSayWhatAndWhy) {
  const spindle_event event{Event(RequestFailed{RequestFailed::Request::send, "news", Errc::access_denied, 12})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_REQUEST_FAILED});
  EXPECT_EQ(groups(event), Names{"news"});
  EXPECT_EQ(spindle_event_code(&event), SPINDLE_ERROR_ACCESS_DENIED);
  EXPECT_EQ(spindle_request_failed_request(&event), unsigned{SPINDLE_REQUEST_SEND});
  EXPECT_EQ(spindle_request_failed_messages(&event), 12u);
}

TEST(CEvents, FlowsHaveTheirFields) {
  const spindle_event ready{Event(FlowReady{{"a", "b"}})};
  EXPECT_EQ(spindle_event_kind(&ready), unsigned{SPINDLE_EVENT_FLOW_READY});
  EXPECT_EQ(groups(ready), (Names{"a", "b"}));
  const spindle_event event{Event(FlowState{{"a", "b"}, 1.5, -2.5, 3.5, std::chrono::microseconds(4), 0.5, "link x"})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_FLOW_STATE});
  EXPECT_EQ(groups(event), (Names{"a", "b"}));
  EXPECT_EQ(spindle_flow_price(&event), 1.5);
  EXPECT_EQ(spindle_flow_budget(&event), -2.5);
  EXPECT_EQ(spindle_flow_rate(&event), 3.5);
  EXPECT_EQ(spindle_flow_salary_period_ns(&event), 4'000);
  EXPECT_EQ(spindle_flow_blocked_share(&event), 0.5);
  EXPECT_EQ(text(spindle_flow_limited_by(&event)), "link x");
}

TEST(CEvents, GapsSayHowManyAndWhereTo) {
  const spindle_event event{Event(Gap{3, 300, {{"a", 2}, {"b", 1}}, 4})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_GAP});
  EXPECT_EQ(spindle_gap_messages(&event), 3u);
  EXPECT_EQ(spindle_gap_bytes(&event), 300u);
  EXPECT_EQ(spindle_gap_unlisted(&event), 4u);
  ASSERT_EQ(spindle_gap_name_count(&event), 2u);
  EXPECT_EQ(text(spindle_gap_name_at(&event, 0)), "a");
  EXPECT_EQ(spindle_gap_messages_at(&event, 0), 2u);
  EXPECT_EQ(text(spindle_gap_name_at(&event, 1)), "b");
  EXPECT_EQ(spindle_gap_messages_at(&event, 1), 1u);
  EXPECT_EQ(spindle_gap_name_at(&event, 2).data, nullptr);
  EXPECT_EQ(spindle_gap_messages_at(&event, 2), 0u);
}

TEST(CEvents, WarningsSayHowFull) {
  const spindle_event event{Event(QueueWarning{80, 800, 1000})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_QUEUE_WARNING});
  EXPECT_EQ(spindle_warning_percent(&event), 80u);
  EXPECT_EQ(spindle_warning_bytes(&event), 800u);
  EXPECT_EQ(spindle_warning_limit_bytes(&event), 1000u);
}

TEST(CEvents, TheEndSaysWhyAndWhatIsLost) {
  const spindle_event event{Event(Disconnected{Errc::slow_receiver, "too slow", {5, true}})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_DISCONNECTED});
  EXPECT_EQ(spindle_event_code(&event), SPINDLE_ERROR_SLOW_RECEIVER);
  EXPECT_EQ(text(spindle_disconnected_text(&event)), "too slow");
  EXPECT_EQ(spindle_disconnected_not_taken(&event), 5u);
  EXPECT_EQ(spindle_disconnected_is_exact(&event), 1);
}

const ChannelId kChannel{"alpha", 7, 8};

TEST(CEvents, OffersHaveTheirFields) {
  const spindle_event event{
      Event(BulkOffered{kChannel, "news", "#ann#alpha", "disk.img", ContentKind::directory, 12, true})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_BULK_OFFERED});
  EXPECT_EQ(groups(event), Names{"news"});
  EXPECT_EQ(text(spindle_bulk_offered_source(&event)), "#ann#alpha");
  EXPECT_EQ(text(spindle_bulk_offered_name(&event)), "disk.img");
  EXPECT_EQ(spindle_bulk_offered_content(&event), unsigned{SPINDLE_CONTENT_DIRECTORY});
  EXPECT_EQ(spindle_bulk_size(&event), 12);
  EXPECT_EQ(spindle_bulk_offered_is_late(&event), 1);
  const spindle_event other{Event(BulkOffered())};
  EXPECT_EQ(spindle_bulk_size(&other), -1);
  EXPECT_EQ(spindle_bulk_offered_is_late(&other), 0);
}

TEST(CEvents, ChannelsOutliveTheirEvents) {
  auto event = std::make_unique<spindle_event>(spindle_event{Event(BulkProgress{kChannel, 5, 12, 3})});
  const spindle_event ended{Event(BulkEnded{kChannel, BulkEnded::Cause::over, {}, {}})};
  const spindle_event others{Event(BulkEnded{{"alpha", 7, 9}, BulkEnded::Cause::over, {}, {}})};
  spindle_channel* channel = spindle_channel_copy(spindle_bulk_channel(event.get()));
  event.reset();
  EXPECT_EQ(text(spindle_channel_daemon(channel)), "alpha");
  EXPECT_EQ(spindle_channel_incarnation(channel), 7u);
  EXPECT_EQ(spindle_channel_number(channel), 8u);
  EXPECT_EQ(spindle_channel_equal(channel, spindle_bulk_channel(&ended)), 1);
  EXPECT_EQ(spindle_channel_equal(channel, spindle_bulk_channel(&others)), 0);
  EXPECT_EQ(spindle_channel_equal(channel, nullptr), 0);
  spindle_channel_free(channel);
}

TEST(CEvents, ProgressHasItsFields) {
  const spindle_event event{Event(BulkProgress{kChannel, 5, 12, 3})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_BULK_PROGRESS});
  EXPECT_EQ(spindle_channel_number(spindle_bulk_channel(&event)), 8u);
  EXPECT_EQ(spindle_bulk_progress_bytes(&event), 5u);
  EXPECT_EQ(spindle_bulk_size(&event), 12);
  EXPECT_EQ(spindle_bulk_progress_rate(&event), 3u);
}

TEST(CEvents, WhatStallsIsAChannel) {
  const spindle_event event{Event(BulkStalled{kChannel})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_BULK_STALLED});
  EXPECT_EQ(spindle_channel_number(spindle_bulk_channel(&event)), 8u);
}

TEST(CEvents, WhatIsReceivedHasItsFields) {
  const spindle_event event{Event(BulkReceived{kChannel, Errc::no_space, "no room", "/srv/x", {'a', 0, 'b'}})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_BULK_RECEIVED});
  EXPECT_EQ(spindle_channel_number(spindle_bulk_channel(&event)), 8u);
  EXPECT_EQ(spindle_event_code(&event), SPINDLE_ERROR_NO_SPACE);
  EXPECT_EQ(text(spindle_bulk_text(&event)), "no room");
  EXPECT_EQ(text(spindle_bulk_received_path(&event)), "/srv/x");
  EXPECT_EQ(text(spindle_bulk_received_bytes(&event)), std::string("a\0b", 3));
}

TEST(CEvents, WhoHasGoneIsCounted) {
  const auto expect_gone = [](const spindle_event& event) {
    EXPECT_EQ(spindle_bulk_gone(&event, SPINDLE_BULK_DONE), 4u);
    EXPECT_EQ(spindle_bulk_gone(&event, SPINDLE_BULK_FAILED), 5u);
    EXPECT_EQ(spindle_bulk_gone(&event, SPINDLE_BULK_REFUSED), 6u);
    EXPECT_EQ(spindle_bulk_gone(&event, SPINDLE_BULK_MISSING), 7u);
    EXPECT_EQ(spindle_bulk_gone(&event, 4), 0u);
    EXPECT_EQ(spindle_bulk_complete_name_count(&event, SPINDLE_BULK_MISSING), 0u);
  };
  const spindle_event complete{Event(BulkComplete{kChannel, {}, {}, {}, {4, 5, 6, 7}})};
  expect_gone(complete);
  EXPECT_EQ(spindle_bulk_returned_present(&complete), 0u);
  const spindle_event returned{Event(BulkReturned{kChannel, {4, 5, 6, 7}, 3})};
  EXPECT_EQ(spindle_event_kind(&returned), unsigned{SPINDLE_EVENT_BULK_RETURNED});
  EXPECT_EQ(spindle_channel_number(spindle_bulk_channel(&returned)), 8u);
  expect_gone(returned);
  EXPECT_EQ(spindle_bulk_returned_present(&returned), 3u);
  const spindle_event stalled{Event(BulkStalled{kChannel})};
  EXPECT_EQ(spindle_bulk_gone(&stalled, SPINDLE_BULK_DONE), 0u);
}

TEST(CEvents, CompletionsHaveTheirLists) {
  const spindle_event event{Event(
      BulkComplete{kChannel, {"#a#x", "#b#x"}, {{"#c#x", Errc::no_space}}, {"#d#x", "#e#x", "#f#x"}, {4, 5, 6, 7}})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_BULK_COMPLETE});
  EXPECT_EQ(spindle_channel_number(spindle_bulk_channel(&event)), 8u);
  const auto names = [&](unsigned list) {
    Names found;
    for (std::size_t i = 0; i < spindle_bulk_complete_name_count(&event, list); ++i) {
      found.push_back(text(spindle_bulk_complete_name_at(&event, list, i)));
    }
    EXPECT_EQ(spindle_bulk_complete_name_at(&event, list, found.size()).data, nullptr);
    return found;
  };
  EXPECT_EQ(names(SPINDLE_BULK_DONE), (Names{"#a#x", "#b#x"}));
  EXPECT_EQ(names(SPINDLE_BULK_FAILED), Names{"#c#x"});
  EXPECT_EQ(names(SPINDLE_BULK_REFUSED), (Names{"#d#x", "#e#x", "#f#x"}));
  EXPECT_EQ(names(99), Names());
  EXPECT_EQ(spindle_bulk_complete_code_at(&event, 0), SPINDLE_ERROR_NO_SPACE);
  EXPECT_EQ(spindle_bulk_complete_code_at(&event, 1), 0);
}

TEST(CEvents, EndsOfChannelsSayWhy) {
  const spindle_event event{
      Event(BulkEnded{kChannel, BulkEnded::Cause::cancelled, Errc::file_failed, "the file has changed"})};
  EXPECT_EQ(spindle_event_kind(&event), unsigned{SPINDLE_EVENT_BULK_ENDED});
  EXPECT_EQ(spindle_channel_number(spindle_bulk_channel(&event)), 8u);
  EXPECT_EQ(spindle_bulk_ended_cause(&event), unsigned{SPINDLE_BULK_CANCELLED});
  EXPECT_EQ(spindle_event_code(&event), SPINDLE_ERROR_FILE_FAILED);
  EXPECT_EQ(text(spindle_bulk_text(&event)), "the file has changed");
}

TEST(CEvents, FieldsOfOtherKindsAreNothing) {
  const spindle_event message{Event(Message())};
  EXPECT_EQ(spindle_view_form(&message), 0u);
  EXPECT_EQ(spindle_view_my_index(&message), -1);
  EXPECT_EQ(spindle_gap_messages(&message), 0u);
  EXPECT_EQ(spindle_event_code(&message), 0);
  EXPECT_EQ(groups(message), Names());
  const spindle_event warning{Event(QueueWarning{80, 800, 1000})};
  EXPECT_EQ(spindle_message_payload(&warning).data, nullptr);
  EXPECT_EQ(spindle_message_type(&warning), 0u);
  EXPECT_EQ(groups(warning), Names());
  EXPECT_EQ(spindle_bulk_channel(&warning), nullptr);
  EXPECT_EQ(spindle_bulk_size(&warning), -1);
  EXPECT_EQ(spindle_bulk_received_bytes(&warning).data, nullptr);
  EXPECT_EQ(spindle_bulk_complete_name_count(&warning, SPINDLE_BULK_DONE), 0u);
}

TEST(CEvents, CopiesOutliveWhatTheyAreOf) {
  const spindle_event original{Event(view())};
  spindle_event* event = spindle_event_copy(&original);
  spindle_event* copy = spindle_event_copy(event);
  spindle_event_free(event);
  EXPECT_EQ(list(*copy, SPINDLE_VIEW_MEMBERS), view().members);
  spindle_event_free(copy);
}

TEST(CMembership, FollowsTheViewsOfAGroup) {
  spindle_membership* members = spindle_membership_new();
  EXPECT_EQ(spindle_membership_is_current(members), 0);
  GroupView first = view();
  first.digest = protocol::MemberList(first.members).digest();
  const spindle_event event{Event(first)};
  unsigned outcome = 99;
  EXPECT_EQ(spindle_membership_apply(members, &event, &outcome), 0);
  EXPECT_EQ(outcome, unsigned{SPINDLE_MEMBERS_CURRENT});
  EXPECT_EQ(spindle_membership_is_current(members), 1);
  ASSERT_EQ(spindle_membership_count(members), 3u);
  EXPECT_EQ(text(spindle_membership_at(members, 2)), "#p#a");
  EXPECT_EQ(spindle_membership_at(members, 3).data, nullptr);
  EXPECT_EQ(spindle_membership_index_of(members, spindle_text("#me#a")), 1);
  EXPECT_EQ(spindle_membership_index_of(members, spindle_text("#nobody#a")), -1);
  ASSERT_EQ(spindle_membership_vs_count(members), 1u);
  EXPECT_EQ(text(spindle_membership_vs_at(members, 0)), "#me#a");
  EXPECT_EQ(spindle_membership_vs_at(members, 1).data, nullptr);

  GroupView farewell;
  farewell.form = ViewForm::farewell;
  const spindle_event last{Event(farewell)};
  EXPECT_EQ(spindle_membership_apply(members, &last, nullptr), 0);
  EXPECT_EQ(spindle_membership_count(members), 0u);
  EXPECT_EQ(spindle_membership_vs_count(members), 0u);
  spindle_membership_free(members);
}

TEST(CMembership, AsksWhereTheMembersAreNotKnown) {
  spindle_membership* members = spindle_membership_new();
  GroupView changed = view();
  changed.form = ViewForm::change;
  changed.members.clear();
  const spindle_event event{Event(changed)};
  unsigned outcome = 99;
  EXPECT_EQ(spindle_membership_apply(members, &event, &outcome), 0);
  EXPECT_EQ(outcome, unsigned{SPINDLE_MEMBERS_ASK});
  EXPECT_EQ(spindle_membership_apply(members, &event, &outcome), 0);
  EXPECT_EQ(outcome, unsigned{SPINDLE_MEMBERS_UNKNOWN});
  spindle_membership_reset(members);
  EXPECT_EQ(spindle_membership_apply(members, &event, &outcome), 0);
  EXPECT_EQ(outcome, unsigned{SPINDLE_MEMBERS_ASK});
  spindle_membership_free(members);
}

TEST(CMembership, TakesViewsOnly) {
  spindle_membership* members = spindle_membership_new();
  const spindle_event message{Event(Message())};
  EXPECT_EQ(spindle_membership_apply(members, &message, nullptr), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_membership_apply(members, nullptr, nullptr), SPINDLE_ERROR_BAD_ARGUMENT);
  spindle_membership_free(members);
}

TEST(CEvents, FeedsHaveTheirFields) {
  using namespace std::chrono_literals;
  const spindle_event opened{Event(FeedOpened{3, "news", "#ann#x", 200ms})};
  EXPECT_EQ(spindle_event_kind(&opened), unsigned{SPINDLE_EVENT_FEED_OPENED});
  EXPECT_EQ(spindle_event_feed(&opened), 3u);
  EXPECT_EQ(groups(opened), Names{"news"});
  EXPECT_EQ(text(spindle_feed_opened_source(&opened)), "#ann#x");
  EXPECT_EQ(spindle_feed_opened_repair_for_ns(&opened), 200'000'000);
  EXPECT_EQ(spindle_feed_packet_payload(&opened).data, nullptr);

  const spindle_event packet{Event(FeedPacket{3, 7, 2, {'a', 0, 'b'}})};
  EXPECT_EQ(spindle_event_kind(&packet), unsigned{SPINDLE_EVENT_FEED_PACKET});
  EXPECT_EQ(spindle_event_feed(&packet), 3u);
  EXPECT_EQ(spindle_feed_sequence(&packet), 7u);
  EXPECT_EQ(spindle_feed_packet_count(&packet), 2u);
  EXPECT_EQ(text(spindle_feed_packet_payload(&packet)), std::string("a\0b", 3));
  EXPECT_EQ(spindle_event_group_count(&packet), 0u);

  const spindle_event gap{Event(FeedGap{4, 9, 5, FeedGap::Cause::slow})};
  EXPECT_EQ(spindle_event_kind(&gap), unsigned{SPINDLE_EVENT_FEED_GAP});
  EXPECT_EQ(spindle_event_feed(&gap), 4u);
  EXPECT_EQ(spindle_feed_sequence(&gap), 9u);
  EXPECT_EQ(spindle_feed_packet_count(&gap), 5u);
  EXPECT_EQ(spindle_feed_gap_cause(&gap), unsigned{SPINDLE_FEED_SLOW});

  const spindle_event closed{Event(FeedClosed{4, FeedClosed::Why::denied, Errc::access_denied})};
  EXPECT_EQ(spindle_event_kind(&closed), unsigned{SPINDLE_EVENT_FEED_CLOSED});
  EXPECT_EQ(spindle_event_feed(&closed), 4u);
  EXPECT_EQ(spindle_feed_closed_why(&closed), unsigned{SPINDLE_FEED_CLOSED_DENIED});
  EXPECT_EQ(spindle_event_code(&closed), SPINDLE_ERROR_ACCESS_DENIED);

  const spindle_event flow{Event(FeedFlow{5, 1000, 40ms, 0.25, FeedLimit::link})};
  EXPECT_EQ(spindle_event_kind(&flow), unsigned{SPINDLE_EVENT_FEED_FLOW});
  EXPECT_EQ(spindle_event_feed(&flow), 5u);
  EXPECT_EQ(spindle_feed_flow_rate(&flow), 1000u);
  EXPECT_EQ(spindle_feed_flow_round_trip_ns(&flow), 40'000'000);
  EXPECT_EQ(spindle_feed_flow_loss(&flow), 0.25);
  EXPECT_EQ(spindle_feed_flow_limited_by(&flow), unsigned{SPINDLE_FEED_LIMIT_LINK});
  EXPECT_EQ(spindle_event_code(&flow), 0);

  const spindle_event writable{Event(FeedWritable{6})};
  EXPECT_EQ(spindle_event_kind(&writable), unsigned{SPINDLE_EVENT_FEED_WRITABLE});
  EXPECT_EQ(spindle_event_feed(&writable), 6u);
}

}  // namespace
}  // namespace spindle::c
