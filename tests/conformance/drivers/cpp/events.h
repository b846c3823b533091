// An event of the client library as a line for the runner.
#pragma once

#include "spindle/error.h"
#include "spindle/event.h"
#include "tests/conformance/drivers/cpp/words.h"

namespace spindle::conformance {

inline constexpr std::string_view kForms[] = {"full", "change", "answer", "farewell"};
inline constexpr std::string_view kContents[] = {"bytes", "file", "directory"};
inline constexpr std::string_view kRequests[] = {"join", "leave", "view", "send", "membership", "listen"};

/// The identifier of a code of ours, such as "would_block".
inline std::string code_of(const std::error_code& error) {
  return std::string(to_string(static_cast<Errc>(static_cast<std::uint16_t>(error.value()))));
}

inline Answer answer_for(const Message& message) {
  Answer answer("message");
  answer.add("sender", message.sender())
      .add("service", to_string(message.service()))
      .add("type", message.type())
      .add_all("group", message.groups())
      .add("size", message.text().size())
      .add("digest", digest(message.text()));
  for (const Header& header : message.headers()) answer.add("header", header.key).add("header_value", header.value);
  return answer;
}

inline Answer answer_for(const GroupView& view) {
  Answer answer("view");
  answer.add("group", view.group)
      .add("id", std::to_string(view.id.view_number) + "/" + view.id.coordinator + "/" +
                     std::to_string(view.id.incarnation) + "/" + std::to_string(view.id.position))
      .add("cause", to_string(view.cause))
      .add("form", kForms[static_cast<std::size_t>(view.form)])
      .add("count", view.member_count)
      .add("digest", view.digest)
      .add_all("joined", view.joined)
      .add_all("left", view.left)
      .add_all("apart", view.apart)
      .add_all("member", view.members)
      .add_all("together", view.vs_set);
  if (view.my_index) answer.add("index", *view.my_index);
  return answer;
}

inline Answer answer_for(const Transitional& signal) { return Answer("signal").add("group", signal.group); }

inline Answer answer_for(const RequestFailed& failed) {
  return Answer("told")
      .add("request", kRequests[static_cast<std::size_t>(failed.request)])
      .add("group", failed.group)
      .add("code", code_of(failed.error))
      .add("messages", failed.messages);
}

inline Answer answer_for(const FlowReady& ready) { return Answer("ready").add_all("group", ready.groups); }

inline Answer answer_for(const FlowState& state) { return Answer("flow").add_all("group", state.groups); }

inline Answer answer_for(const Gap& gap) {
  Answer answer("gap");
  answer.add("messages", gap.messages).add("bytes", gap.bytes).add("unlisted", gap.unlisted);
  for (const Gap::Name& name : gap.names) answer.add("name", name.name).add("of_name", name.messages);
  return answer;
}

inline Answer answer_for(const QueueWarning& warning) {
  return Answer("warned").add("percent", warning.percent).add("bytes", warning.bytes).add("limit", warning.limit_bytes);
}

inline Answer answer_for(const Disconnected& end) {
  return Answer("disconnected").add("code", code_of(end.error)).add("text", end.text);
}

inline Answer answer_for(const FlushRequest& request) { return Answer("flush_request").add("group", request.group); }

inline Answer answer_for(const Reconnected& again) {
  Answer answer = Answer("reconnected").add("how", again.resumed ? "resumed" : "anew").add("name", again.private_name);
  for (const std::uint64_t ticket : again.unknown) answer.add("unknown", ticket);
  return answer;
}

inline Answer answer_for(const BulkOffered& offered) {
  Answer answer("bulk_offered");
  answer.add("channel", to_string(offered.channel))
      .add("group", offered.group)
      .add("source", offered.source)
      .add("name", offered.name)
      .add("kind", kContents[static_cast<std::size_t>(offered.kind)])
      .add("late", offered.late ? "yes" : "no");
  if (offered.size) answer.add("size", *offered.size);
  return answer;
}

inline Answer answer_for(const BulkProgress& progress) {
  Answer answer("bulk_progress");
  answer.add("channel", to_string(progress.channel)).add("bytes", progress.bytes);
  if (progress.size) answer.add("size", *progress.size);
  return answer;
}

inline Answer answer_for(const BulkStalled& stalled) {
  return Answer("bulk_stalled").add("channel", to_string(stalled.channel));
}

inline Answer answer_for(const BulkReceived& received) {
  Answer answer("bulk_received");
  answer.add("channel", to_string(received.channel))
      .add("path", received.path)
      .add("size", received.bytes.size())
      .add("digest", digest({reinterpret_cast<const char*>(received.bytes.data()), received.bytes.size()}));
  if (received.error) answer.add("code", code_of(received.error)).add("text", received.text);
  return answer;
}

inline Answer& add_gone(Answer& answer, const BulkGone& gone) {
  return answer.add("gone_done", gone.done)
      .add("gone_failed", gone.failed)
      .add("gone_refused", gone.refused)
      .add("gone_missing", gone.missing);
}

inline Answer answer_for(const BulkReturned& returned) {
  Answer answer("bulk_returned");
  answer.add("channel", to_string(returned.channel)).add("present", returned.present);
  return add_gone(answer, returned.gone);
}

inline Answer answer_for(const BulkComplete& complete) {
  Answer answer("bulk_complete");
  answer.add("channel", to_string(complete.channel))
      .add_all("done", complete.done)
      .add_all("refused", complete.refused);
  for (const BulkComplete::Failed& each : complete.failed) {
    answer.add("failed", each.name).add("failed_code", code_of(each.error));
  }
  return add_gone(answer, complete.gone);
}

inline Answer answer_for(const BulkEnded& ended) {
  Answer answer("bulk_ended");
  answer.add("channel", to_string(ended.channel)).add("cause", to_string(ended.cause));
  if (ended.error) answer.add("code", code_of(ended.error)).add("text", ended.text);
  return answer;
}

inline Answer answer_for(const FeedOpened& opened) {
  return Answer("feed_opened")
      .add("feed", opened.feed)
      .add("group", opened.group)
      .add("source", opened.source)
      .add("repair_ms", static_cast<std::uint64_t>(opened.repair_for / std::chrono::milliseconds(1)));
}

inline Answer answer_for(const FeedPacket& packet) {
  return Answer("feed_packet")
      .add("feed", packet.feed)
      .add("sequence", packet.sequence)
      .add("packets", packet.packets)
      .add("size", packet.text().size())
      .add("digest", digest(packet.text()));
}

inline Answer answer_for(const FeedGap& gap) {
  return Answer("feed_gap")
      .add("feed", gap.feed)
      .add("sequence", gap.first)
      .add("packets", gap.count)
      .add("cause", to_string(gap.cause));
}

inline Answer answer_for(const FeedClosed& closed) {
  Answer answer = Answer("feed_closed").add("feed", closed.feed).add("why", to_string(closed.why));
  if (closed.error) answer.add("code", code_of(closed.error));
  return answer;
}

inline Answer answer_for(const FeedFlow& flow) {
  return Answer("feed_flow")
      .add("feed", flow.feed)
      .add("rate", flow.bytes_per_second)
      .add("limited_by", to_string(flow.limited_by));
}

inline Answer answer_for(const FeedWritable& writable) { return Answer("feed_writable").add("feed", writable.feed); }

inline Answer describe(const Event& event) {
  return event.visit([](const LaterEvent&) { return Answer("later"); },
                     [](const auto& each) { return answer_for(each); });
}

}  // namespace spindle::conformance
