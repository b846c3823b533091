// What an event is, for the functions that ask for its fields.
#pragma once

#include "bindings/c/src/handles.h"

namespace spindle::c {

/// Null where the event is something else, or none.
template <typename T>
const T* content(const spindle_event* event) {
  return event == nullptr ? nullptr : event->value.get_if<T>();
}

/// A number of an event that is a `T`; zero of others.
template <typename T, typename Value>
Value number_in(const spindle_event* event, Value T::*field) {
  const T* value = content<T>(event);
  return value == nullptr ? Value() : value->*field;
}

/// The same for an enumerator.
template <typename T, typename Value>
unsigned enumerator_in(const spindle_event* event, Value T::*field) {
  return static_cast<unsigned>(number_in(event, field));
}

/// The same for a text.
template <typename T>
spindle_bytes text_in(const spindle_event* event, std::string T::*field) {
  const T* value = content<T>(event);
  return value == nullptr ? spindle_bytes{nullptr, 0} : bytes_of(value->*field);
}

}  // namespace spindle::c
