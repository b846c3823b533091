#include "libclient/include/spindle/event.h"

#include <stdexcept>

namespace spindle {

void* Event::copy(EventKind kind, const void* content) {
  switch (kind) {
#define SPINDLE_EVENT(type, name) \
  case EventKind::name:           \
    return new type(*static_cast<const type*>(content));
    SPINDLE_EVENTS(SPINDLE_EVENT)
#undef SPINDLE_EVENT
  }
  return nullptr;
}

void Event::destroy(EventKind kind, void* content) noexcept {
  switch (kind) {
#define SPINDLE_EVENT(type, name)       \
  case EventKind::name:                 \
    delete static_cast<type*>(content); \
    break;
    SPINDLE_EVENTS(SPINDLE_EVENT)
#undef SPINDLE_EVENT
  }
}

void Event::throw_other_kind(EventKind is, EventKind wanted) {
  throw std::logic_error("an event of kind " + std::string(to_string(is)) + " was taken for one of kind " +
                         std::string(to_string(wanted)));
}

}  // namespace spindle
