#include "bindings/python/src/events.h"

#include "bindings/python/src/message.h"
#include "bindings/python/src/registry.h"

namespace spindle::python {

namespace {

PyObject* number(std::uint64_t value) { return PyLong_FromUnsignedLongLong(value); }
PyObject* truth(bool value) { return PyBool_FromLong(value ? 1 : 0); }
PyObject* real(double value) { return PyFloat_FromDouble(value); }
template <typename Span>
PyObject* seconds(Span span) {
  return real(std::chrono::duration<double>(span).count());
}
template <typename Enum>
PyObject* member(Enumeration of, Enum value, std::size_t first = 0) {
  return registry().member(of, static_cast<std::size_t>(value) - first);
}
template <typename... Arguments>
PyObject* make(Class of, Arguments... arguments) {
  return registry().make(of, arguments...);
}

PyObject* size_of(const std::optional<std::uint64_t>& size) {
  return size ? number(*size) : Ref::to(Py_None).release();
}

PyObject* content(const GroupView& view) { return to_python(view); }
PyObject* content(const Transitional& signal) { return make(Class::Transitional, to_text(signal.group)); }

PyObject* content(const RequestFailed& failed) {
  return make(Class::RequestFailed, member(Enumeration::request, failed.request), to_text(failed.group),
              registry().code(failed.error), number(failed.messages));
}

PyObject* content(const FlowReady& ready) { return make(Class::FlowReady, to_texts(ready.groups)); }

PyObject* content(const FlowState& state) {
  return make(Class::FlowState, to_texts(state.groups), real(state.price), real(state.budget), real(state.rate),
              seconds(state.salary_period), real(state.blocked_share), to_text(state.limited_by));
}

PyObject* content(const Gap& gap) {
  PyObject* const names = to_tuple(gap.names, gap.names.size(), [](const Gap::Name& each) -> PyObject* {
    const Ref name(to_text(each.name)), count(number(each.messages));
    return name && count ? PyTuple_Pack(2, name.get(), count.get()) : nullptr;
  });
  return make(Class::Gap, number(gap.messages), number(gap.bytes), names, number(gap.unlisted));
}

PyObject* content(const QueueWarning& warning) {
  return make(Class::QueueWarning, number(warning.percent), number(warning.bytes), number(warning.limit_bytes));
}

PyObject* content(const Disconnected& end) {
  return make(Class::Disconnected, registry().code(end.error), to_text(end.text), to_python(end.not_taken));
}

PyObject* content(const Reconnected& again) {
  return make(Class::Reconnected, truth(again.resumed), to_text(again.former_name), to_text(again.private_name),
              to_tuple(again.unknown, again.unknown.size(), number), truth(again.fenced));
}

PyObject* content(const FlushRequest& request) {
  return make(Class::FlushRequest, to_text(request.group), number(request.number));
}

PyObject* content(const FeedOpened& opened) {
  return make(Class::FeedOpened, number(opened.feed), to_text(opened.group), to_text(opened.source),
              seconds(opened.repair_for));
}

PyObject* content(const FeedPacket& packet) {
  return make(Class::FeedPacket, number(packet.feed), number(packet.sequence), number(packet.packets),
              to_bytes(packet.text()));
}

PyObject* content(const FeedGap& gap) {
  return make(Class::FeedGap, number(gap.feed), number(gap.first), number(gap.count),
              member(Enumeration::gap_cause, gap.cause));
}

PyObject* content(const FeedClosed& closed) {
  return make(Class::FeedClosed, number(closed.feed), member(Enumeration::why, closed.why),
              registry().code(closed.error));
}

// --- Bulk channels ---

PyObject* content(const BulkOffered& offered) {
  return make(Class::BulkOffered, to_python(offered.channel), to_text(offered.group), to_text(offered.source),
              to_text(offered.name), member(Enumeration::content_kind, offered.kind), size_of(offered.size),
              truth(offered.late));
}

PyObject* content(const BulkProgress& progress) {
  return make(Class::BulkProgress, to_python(progress.channel), number(progress.bytes), size_of(progress.size),
              number(progress.bytes_per_second));
}

PyObject* content(const BulkStalled& stalled) { return make(Class::BulkStalled, to_python(stalled.channel)); }

PyObject* content(const BulkReceived& received) {
  const std::string_view bytes(reinterpret_cast<const char*>(received.bytes.data()), received.bytes.size());
  return make(Class::BulkReceived, to_python(received.channel), registry().code(received.error), to_text(received.text),
              to_text(received.path), to_bytes(bytes));
}

PyObject* content(const BulkGone& gone) {
  return make(Class::BulkGone, number(gone.done), number(gone.failed), number(gone.refused), number(gone.missing));
}

PyObject* content(const BulkComplete& complete) {
  PyObject* const failed =
      to_tuple(complete.failed, complete.failed.size(), [](const BulkComplete::Failed& each) -> PyObject* {
        const Ref name(to_text(each.name)), code(registry().code(each.error));
        return name && code ? PyTuple_Pack(2, name.get(), code.get()) : nullptr;
      });
  return make(Class::BulkComplete, to_python(complete.channel), to_texts(complete.done), failed,
              to_texts(complete.refused), content(complete.gone));
}

PyObject* content(const BulkReturned& returned) {
  return make(Class::BulkReturned, to_python(returned.channel), content(returned.gone), number(returned.present));
}

PyObject* content(const BulkEnded& ended) {
  return make(Class::BulkEnded, to_python(ended.channel), member(Enumeration::ended, ended.cause, 1),
              registry().code(ended.error), to_text(ended.text));
}

PyObject* content(const FeedFlow& flow) { return to_python(flow); }
PyObject* content(const FeedWritable& writable) { return make(Class::FeedWritable, number(writable.feed)); }

}  // namespace

PyObject* to_python(const GroupView& view) {
  PyObject* id = make(Class::GroupViewId, number(view.id.view_number), to_text(view.id.coordinator),
                      number(view.id.incarnation), number(view.id.position));
  PyObject* const index = view.my_index ? number(*view.my_index) : Ref::to(Py_None).release();
  return make(Class::GroupView, to_text(view.group), id, member(Enumeration::cause, view.cause, 1),
              member(Enumeration::form, view.form), number(view.member_count), truth(view.synchronous),
              number(view.digest), to_texts(view.joined), to_texts(view.left), to_texts(view.apart),
              to_texts(view.members), to_texts(view.vs_set), index);
}

PyObject* to_python(const ChannelId& channel) {
  return make(Class::ChannelId, to_text(channel.daemon), number(channel.incarnation), number(channel.number));
}

PyObject* to_python(const NotTaken& not_taken) {
  return make(Class::NotTaken, number(not_taken.messages), truth(not_taken.exact));
}

PyObject* to_python(const FeedFlow& flow) {
  return make(Class::FeedFlow, number(flow.feed), number(flow.bytes_per_second), seconds(flow.round_trip),
              real(flow.loss), member(Enumeration::limit, flow.limited_by));
}

PyObject* to_python(PyTypeObject* message_type, Event&& event) {
  if (auto* message = event.get_if<Message>()) return make_message(message_type, std::move(*message));
  return event.visit(
      [&](const LaterEvent&) -> PyObject* { return make(Class::OtherEvent, to_text(to_string(event.kind()))); },
      [&](const auto& each) -> PyObject* {
        if constexpr (requires { content(each); }) {
          return content(each);
        } else {
          return make(Class::OtherEvent, to_text(to_string(event.kind())));
        }
      });
}

PyObject* take_events(PyTypeObject* message_type, Client& client, std::size_t most) {
  Ref list(PyList_New(0));
  if (!list) return nullptr;
  Event event;
  while (most-- != 0 && client.take(event)) {
    const Ref object(to_python(message_type, std::move(event)));
    if (!object || PyList_Append(list.get(), object.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* to_python(PyTypeObject* message_type, Outcome&& outcome) {
  PyObject* value = nullptr;
  if (const auto* view = std::get_if<GroupView>(&outcome.value)) {
    value = to_python(*view);
  } else if (const auto* not_taken = std::get_if<NotTaken>(&outcome.value)) {
    value = to_python(*not_taken);
  } else if (auto* answers = std::get_if<Answers>(&outcome.value)) {
    const Ref messages(to_tuple(answers->messages, answers->messages.size(),
                                [&](const Message& each) { return make_message(message_type, Message(each)); }));
    const Ref missing(to_texts(answers->missing));
    value = messages && missing ? PyTuple_Pack(2, messages.get(), missing.get()) : nullptr;
  } else {
    value = Ref::to(Py_None).release();
  }
  const Ref call(number(outcome.call)), code(registry().code(outcome.error)), kept(value);
  return call && code && kept ? PyTuple_Pack(3, call.get(), code.get(), kept.get()) : nullptr;
}

}  // namespace spindle::python
