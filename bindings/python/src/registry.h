// What the module makes objects of that are classes of Python: events and enumerations.
#pragma once

#include <array>
#include <cstdint>
#include <system_error>

#include "bindings/python/src/python.h"

namespace spindle::python {

// X(name): classes, as spindle/_events.py has them.
#define SPINDLE_PYTHON_CLASSES(X) \
  X(GroupViewId)                  \
  X(GroupView)                    \
  X(Transitional)                 \
  X(RequestFailed)                \
  X(FlowReady)                    \
  X(FlowState)                    \
  X(Gap)                          \
  X(QueueWarning)                 \
  X(NotTaken)                     \
  X(Disconnected)                 \
  X(Reconnected)                  \
  X(FlushRequest)                 \
  X(FeedOpened)                   \
  X(FeedPacket)                   \
  X(FeedGap)                      \
  X(FeedClosed)                   \
  X(FeedFlow)                     \
  X(FeedWritable)                 \
  X(ChannelId)                    \
  X(BulkOffered)                  \
  X(BulkProgress)                 \
  X(BulkStalled)                  \
  X(BulkReceived)                 \
  X(BulkGone)                     \
  X(BulkComplete)                 \
  X(BulkReturned)                 \
  X(BulkEnded)                    \
  X(OtherEvent)

enum class Class : std::uint8_t {
#define SPINDLE_CLASS(name) name,
  SPINDLE_PYTHON_CLASSES(SPINDLE_CLASS)
#undef SPINDLE_CLASS
      count
};

// X(member, name): enumerations, whose members are told by their numbers from 0 on; where there is none, None.
#define SPINDLE_PYTHON_ENUMERATIONS(X) \
  X(service, Service)                  \
  X(cause, ViewCause)                  \
  X(form, ViewForm)                    \
  X(request, Request)                  \
  X(gap_cause, FeedGapCause)           \
  X(why, FeedClosedWhy)                \
  X(limit, FeedLimit)                  \
  X(content_kind, ContentKind)         \
  X(ended, BulkEndedCause)

enum class Enumeration : std::uint8_t {
#define SPINDLE_ENUMERATION(member, name) member,
  SPINDLE_PYTHON_ENUMERATIONS(SPINDLE_ENUMERATION)
#undef SPINDLE_ENUMERATION
      count
};

class Registry {
 public:
  /// Takes the classes, the enumerations and the functions `code`, which makes a code of a number, and `error`, which
  /// makes an exception of a code and a text, out of a mapping of names. False with an exception.
  bool fill(PyObject* names);
  bool is_filled() const { return code_ != nullptr; }
  /// A new object of that class, of arguments that are owned; null where one of these is, with an exception.
  template <typename... Arguments>
  PyObject* make(Class of, Arguments... arguments) const {
    std::array<Ref, sizeof...(Arguments)> kept{Ref(arguments)...};
    for (const Ref& each : kept) {
      if (!each) return nullptr;
    }
    return PyObject_CallFunctionObjArgs(classes_[static_cast<std::size_t>(of)], arguments..., nullptr);
  }
  /// A new reference.
  PyObject* member(Enumeration of, std::size_t number) const;
  PyObject* code(const std::error_code& error) const;
  /// Raises what stands for that error, with a text of its own.
  void raise(const std::error_code& error, PyObject* text) const;

 private:
  // Kept for as long as the process.
  std::array<PyObject*, static_cast<std::size_t>(Class::count)> classes_{};
  std::array<PyObject*, static_cast<std::size_t>(Enumeration::count)> enumerations_{};  // tuples
  PyObject* code_ = nullptr;
  PyObject* error_ = nullptr;
};

/// The one of this process.
Registry& registry();

}  // namespace spindle::python
